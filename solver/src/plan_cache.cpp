#include <basal/solver/detail/plan_cache.hpp>

#include <tuple>
#include <utility>

#include "options_hash.hpp"

namespace basal::solver {

template <class T>
std::size_t plan_cache<T>::hash::operator()(const key& k) const noexcept {
  return detail::hash_of(std::tuple{k.matrix, detail::hash_of(k.options)});
}

template <class T>
solve_plan<T> plan_cache<T>::get(const linear_operator<T>& a, const solve_options& options) {
  if (limit_bytes_ == 0 || a.matrix() == nullptr)
    return {a, options};
  const key wanted{a.matrix().get(), options};
  if (auto known = find(wanted))
    return *std::move(known);
  return keep(wanted, {a, options});
}

/// Counts a miss as well as a hit.
template <class T>
std::optional<solve_plan<T>> plan_cache<T>::find(const key& wanted) {
  std::lock_guard guard{mutex_};
  const auto found = places_.find(wanted);
  if (found == places_.end()) {
    ++stats_.misses;
    return std::nullopt;
  }
  ++stats_.hits;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->plan;
}

/// @returns `plan`, or the one that another thread made meanwhile.
template <class T>
solve_plan<T> plan_cache<T>::keep(const key& made_for, solve_plan<T> plan) {
  const auto bytes = plan.bytes();
  if (bytes > limit_bytes_)
    return plan;
  entries evicted; // destroyed without the mutex
  std::lock_guard guard{mutex_};
  if (const auto found = places_.find(made_for); found != places_.end())
    return found->second->plan;
  while (stats_.bytes + bytes > limit_bytes_) {
    const auto last = std::prev(entries_.end());
    places_.erase(last->made_for);
    stats_.bytes -= last->bytes;
    ++stats_.evicted;
    evicted.splice(evicted.end(), entries_, last);
  }
  entries_.push_front({made_for, plan, bytes});
  try {
    places_.emplace(made_for, entries_.begin());
  } catch (...) {
    entries_.pop_front();
    throw;
  }
  stats_.bytes += bytes;
  return plan;
}

template <class T>
plan_cache_stats plan_cache<T>::stats() const {
  std::lock_guard guard{mutex_};
  auto result = stats_;
  result.plans = entries_.size();
  return result;
}

template class plan_cache<float>;
template class plan_cache<double>;

} // namespace basal::solver
