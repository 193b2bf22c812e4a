#include <basal/mab/family.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace basal::mab {

namespace {

const knobs& checked(const knobs& k) {
  k.validate();
  return k;
}

} // namespace

void family::pooled_mean::add(double x, std::uint32_t reports) noexcept {
  const auto former = publications_.load(std::memory_order_relaxed);
  const double one = 1.0 / std::min(former + 1, most_weight);
  const double weight = reports == 1 ? one : 1 - std::pow(1 - one, reports);
  const double mean = mean_.load(std::memory_order_relaxed);
  mean_.store(mean + weight * (x - mean), std::memory_order_relaxed);
  publications_.store(std::min(former + 1, most_weight), std::memory_order_release);
}

std::optional<double> family::pooled_mean::get() const noexcept {
  if (publications_.load(std::memory_order_acquire) == 0)
    return std::nullopt;
  return mean_.load(std::memory_order_relaxed);
}

void family::shown_posterior::set(const posterior& p) noexcept {
  n_.store(p.n(), std::memory_order_relaxed);
  mean_.store(p.mean(), std::memory_order_relaxed);
  s2_.store(p.s2(), std::memory_order_relaxed);
}

posterior family::shown_posterior::get() const noexcept {
  return {n_.load(std::memory_order_relaxed), mean_.load(std::memory_order_relaxed),
          s2_.load(std::memory_order_relaxed)};
}

family::family(std::string name, const knobs& k, std::size_t executors)
  : name_(std::move(name)),
    knobs_(checked(k)),
    executors_(executors),
    newcomers_(std::make_unique<newcomers[]>(executors)) {
}

std::optional<prior> family::learned() const noexcept {
  if (const auto function_time = function_time_.get())
    return prior{*function_time, overhead_.get()};
  return std::nullopt;
}

family_snapshot family::snapshot() const {
  family_snapshot result{name_,
                         {},
                         learned(),
                         pressure_.load(std::memory_order_relaxed),
                         shown_function_time_.get(),
                         shown_overhead_.get()};
  for (std::size_t i = 0; i < counter_count; ++i)
    result.totals.counts[i] = counts_[i].load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < executors_; ++i) {
    const auto ended = newcomers_[i].num_ended();
    result.totals[event::inline_decision] += ended;
    result.totals[event::finished] += ended;
  }
  return result;
}

void family::publish(const posterior& function_time, const posterior& overhead, double pressure,
                     const stats& since_last) noexcept {
  publish_runs(function_time, pressure, 1);
  if (overhead.n() > 0)
    shown_overhead_.set(overhead);
  if (overhead.n() >= 1 && std::isfinite(overhead.mean())) // less has faded: others know better
    overhead_.add(overhead.mean());
  for (std::size_t i = 0; i < counter_count; ++i)
    if (since_last.counts[i] != 0)
      counts_[i].fetch_add(since_last.counts[i], std::memory_order_relaxed);
}

void family::publish_runs(const posterior& function_time, double pressure,
                          std::uint32_t runs) noexcept {
  // A number that is none would stay in the mean for ever.
  if (function_time.n() > 0 && std::isfinite(function_time.mean())) {
    function_time_.add(function_time.mean(), runs);
    shown_function_time_.set(function_time);
  }
  pressure_.store(pressure, std::memory_order_relaxed);
}

} // namespace basal::mab
