#pragma once

namespace basal::mab {

class chooser;
class decision;
class estimate;
class family;
class family_table;
class newcomers;
class posterior;
class rate_meter;
class splitmix64;
enum class arm;
enum class compute_hint;
enum class cost_model;
enum class event : unsigned char;
enum class guardrail;
enum class policy;
enum class reason;
struct function_key;
struct knobs;
struct load;
struct outcome;
struct rationale;
struct stats;

} // namespace basal::mab
