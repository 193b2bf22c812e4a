#include <basal/mab/family.hpp>

#include <algorithm>
#include <utility>

namespace basal::mab {

namespace {

const knobs& checked(const knobs& k) {
  k.validate();
  return k;
}

} // namespace

void family::pooled_mean::add(double x) noexcept {
  const auto former = publications_.load(std::memory_order_relaxed);
  const double weight = 1.0 / std::min(former + 1, 16u);
  const double mean = mean_.load(std::memory_order_relaxed);
  mean_.store(mean + weight * (x - mean), std::memory_order_relaxed);
  publications_.store(std::min(former + 1, 16u), std::memory_order_release);
}

std::optional<double> family::pooled_mean::get() const noexcept {
  if (publications_.load(std::memory_order_acquire) == 0)
    return std::nullopt;
  return mean_.load(std::memory_order_relaxed);
}

family::family(std::string name, const knobs& k) : name_(std::move(name)), knobs_(checked(k)) {
}

std::optional<prior> family::learned() const noexcept {
  if (const auto function_time = function_time_.get())
    return prior{*function_time, overhead_.get()};
  return std::nullopt;
}

family_snapshot family::snapshot() const {
  family_snapshot result{name_, {}, learned(), pressure_.load(std::memory_order_relaxed)};
  for (std::size_t i = 0; i < event_count; ++i)
    result.totals.counts[i] = counts_[i].load(std::memory_order_relaxed);
  return result;
}

void family::publish(const posterior& function_time, const posterior& overhead, double pressure,
                     const stats& since_last) noexcept {
  if (function_time.n() > 0)
    function_time_.add(function_time.mean());
  if (overhead.n() >= 1) // less has faded: others know better
    overhead_.add(overhead.mean());
  pressure_.store(pressure, std::memory_order_relaxed);
  for (std::size_t i = 0; i < event_count; ++i)
    if (since_last.counts[i] != 0)
      counts_[i].fetch_add(since_last.counts[i], std::memory_order_relaxed);
}

} // namespace basal::mab
