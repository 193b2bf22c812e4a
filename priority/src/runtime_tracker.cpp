#include <basal/priority/runtime_tracker.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>

namespace basal::priority {

namespace {

std::size_t at_least_one(std::size_t max_types) {
  if (max_types == 0)
    throw std::invalid_argument("basal: runtime_tracker: max_types is 0, but at least one type "
                                "must be remembered");
  return max_types;
}

} // namespace

runtime_tracker::runtime_tracker(std::size_t max_types)
  : set_count_(std::max<std::size_t>(1, at_least_one(max_types) / ways)),
    used_ways_(std::min(ways, max_types)),
    sets_(std::make_unique<set[]>(set_count_)) {
}

runtime_tracker::~runtime_tracker() = default;

void runtime_tracker::record(task_key type, std::chrono::duration<double> runtime) noexcept {
  auto s = runtime.count();
  if (!(s >= shortest_s && s <= longest_s)) {
    s = s > longest_s ? longest_s : shortest_s;
    clamped_.fetch_add(1, std::memory_order_relaxed);
  }
  record_type(stored(type), s);
  std::lock_guard guard{global_lock_};
  global_.observe(s);
  recorded_.store(global_.count(), std::memory_order_relaxed);
  global_median_.store(global_.value(), std::memory_order_relaxed);
}

void runtime_tracker::record_type(std::uint64_t key, double runtime_s) noexcept {
  auto& s = set_of(key);
  std::lock_guard guard{s.lock};
  if (!s.estimators) {
    s.estimators.reset(new (std::nothrow) windowed_quantile[ways]);
    if (!s.estimators)
      return; // out of memory: the types of this set stay unknown for now
  }
  std::size_t at = 0;
  std::size_t oldest = 0;
  for (; at < used_ways_ && s.keys[at].load(std::memory_order_relaxed) != key; ++at)
    if (s.used[at] < s.used[oldest])
      oldest = at;
  if (at == used_ways_) {
    at = oldest;
    if (s.used[at] == 0)
      types_.fetch_add(1, std::memory_order_relaxed);
    else
      evicted_.fetch_add(1, std::memory_order_relaxed);
    s.keys[at].store(0, std::memory_order_release);
    s.medians[at].store(not_enough, std::memory_order_release);
    s.keys[at].store(key, std::memory_order_release);
    s.estimators[at] = windowed_quantile{};
  }
  s.used[at] = ++s.clock;
  auto& estimator = s.estimators[at];
  estimator.observe(runtime_s);
  if (estimator.count() >= enough)
    s.medians[at].store(estimator.value(), std::memory_order_release);
}

runtime_stats runtime_tracker::stats() const noexcept {
  runtime_stats result;
  result.recorded = recorded_.load(std::memory_order_relaxed);
  result.clamped = clamped_.load(std::memory_order_relaxed);
  result.evicted = evicted_.load(std::memory_order_relaxed);
  result.types = types_.load(std::memory_order_relaxed);
  result.global_median_s = global_median_.load(std::memory_order_relaxed);
  return result;
}

} // namespace basal::priority
