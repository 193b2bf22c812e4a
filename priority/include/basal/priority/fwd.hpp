#pragma once

#include <cstdint>

namespace basal::priority {

class background_pool;
class evaluation;
class p2_quantile;
class pool_closed;
class queue_full;
class runtime_tracker;
class task_cancelled;
class task_discarded;
class task_key;
class windowed_quantile;
enum class full_policy : std::uint8_t;
enum class level : std::uint32_t;
enum class route : std::uint8_t;
enum class task_state : std::uint8_t;
struct background_config;
struct background_stats;
struct level_stats;
struct named_level;
struct shutdown_report;
struct task_options;
struct weights;

template <class T>
class task_handle;

} // namespace basal::priority
