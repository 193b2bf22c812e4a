#pragma once

namespace basal::posse {

class member;
class right_continuation;
class runtime;
struct posse_stats;
struct runtime_config;

template <auto Function>
class pure;

} // namespace basal::posse
