#pragma once

#include <basal/actors/actor_stats.hpp>
#include <basal/executors/detail/time_buckets.hpp>

#include <cstdint>
#include <span>

namespace basal::actors {

/// How many times there were in each of time_buckets.
using time_counts = std::span<const std::uint64_t, executors::time_buckets::size>;

/// Count, sum and quantiles of times that were counted by their length.
/// @param with_limits has `time_stats::within` filled, which takes memory
time_stats times_of_buckets(time_counts buckets, std::uint64_t sum_ns, bool with_limits);

} // namespace basal::actors
