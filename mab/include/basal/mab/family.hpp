#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <basal/mab/detail/posterior.hpp>
#include <basal/mab/knobs.hpp>
#include <basal/mab/newcomers.hpp>
#include <basal/mab/stats.hpp>

namespace basal::mab {

/// Costs that choosers of one family have learned together. Logarithms of microseconds.
struct prior {
  double log_function_us;                ///< mean over the choosers that published
  std::optional<double> log_overhead_us; ///< empty until one of them has offloaded
};

/// A family as those see it who watch: one snapshot, whose numbers may be a few
/// decisions apart and up to 127 decisions per chooser behind.
struct family_snapshot {
  std::string name;             ///< as given to the family
  stats totals;                 ///< sum over its choosers
  std::optional<prior> learned; ///< empty until an outcome was observed
  double pressure;              ///< when a chooser last reported
  posterior function_time;      ///< of the chooser that reported last; nothing: of none yet
  posterior overhead;           ///< likewise; in models other than corrected the round trip
};

/// State shared by all choosers that decide for one actor type and message type: the knobs, the
/// counters, and the learned costs, so that the ten thousandth actor does not inline a handler that
/// the first one found to be slow.
///
/// All functions may be called by any thread, without locks. A family outlives
/// its choosers and does not move.
class family {
public:
  /// @param executors on which its choosers decide, for newcomers_on(); may be 0
  /// @throws std::invalid_argument when `k` is not valid; see knobs::validate.
  explicit family(std::string name, const knobs& k = {}, std::size_t executors = 0);

  family(const family&) = delete;
  family& operator=(const family&) = delete;

  /// The name that statistics and explain() show. Constant.
  const std::string& name() const noexcept {
    return name_;
  }

  /// The knobs by which all of its choosers decide. Constant.
  const knobs& settings() const noexcept {
    return knobs_;
  }

  /// Empty until the first outcome was observed.
  std::optional<prior> learned() const noexcept;

  /// Whether so many have reported that one more changes little.
  bool is_settled() const noexcept {
    return function_time_.is_settled();
  }

  /// First runs of new actors on one of its executors.
  newcomers& newcomers_on(std::size_t executor) noexcept {
    assert(executor < executors_ && "an executor's number is below their number");
    return newcomers_[executor];
  }

  /// The cost of an offload.
  struct trial {
    std::uint64_t number;   ///< counts from 1; 0: there was none yet
    double log_overhead_us; ///< logarithm of microseconds
  };

  /// The one that was told last. The overhead may be that of another one told at the same time.
  trial latest_trial() const noexcept {
    const auto number = trials_.load(std::memory_order_acquire);
    return {number, latest_overhead_.load(std::memory_order_relaxed)};
  }

  /// Called by choosers, for those of the family that seldom offload. @returns its number
  std::uint64_t tell_trial(double log_overhead_us) noexcept {
    latest_overhead_.store(log_overhead_us, std::memory_order_relaxed);
    return trials_.fetch_add(1, std::memory_order_release) + 1;
  }

  /// All of its statistics. Copies the name, so it may throw std::bad_alloc.
  family_snapshot snapshot() const;

  /// Called by choosers: how many observations `function_time` and `overhead`
  /// rest on tells whether there are any. Means that are not finite are left out.
  void publish(const posterior& function_time, const posterior& overhead, double pressure,
               const stats& since_last) noexcept;

  /// A part of it, which newcomers call, too: the mean of as many runs, each of which would have
  /// been reported by itself.
  void publish_runs(const posterior& function_time, double pressure, std::uint32_t runs) noexcept;

private:
  /// The mean of what choosers publish, recent ones weighing more: the first
  /// counts alone, the k-th 1/k, and from the 16th on each 1/16. In log space,
  /// so that a single actor's disturbed first run is outvoted by the next two.
  class pooled_mean {
  public:
    /// @param reports of that mean; more than one only once it is settled
    void add(double x, std::uint32_t reports = 1) noexcept;
    std::optional<double> get() const noexcept;

    bool is_settled() const noexcept {
      return publications_.load(std::memory_order_relaxed) == most_weight;
    }

  private:
    static constexpr std::uint32_t most_weight = 16;

    // Written by add() on any thread, read by get() on any. A lost update merely
    // delays what this publication would have taught, so load and store suffice
    // and are relaxed.
    std::atomic<double> mean_{0};

    // Written after mean_. The release store pairs with the acquire load in
    // get(): who sees a count sees a mean.
    std::atomic<std::uint32_t> publications_{0};
  };

  /// A posterior for those who watch. Any threads, relaxed: its three numbers may be
  /// of different reports.
  class shown_posterior {
  public:
    void set(const posterior& p) noexcept;
    posterior get() const noexcept;

  private:
    std::atomic<double> n_{0}, mean_{0}, s2_{0};
  };

  const std::string name_;
  const knobs knobs_;
  pooled_mean function_time_;
  pooled_mean overhead_;
  const std::size_t executors_;
  const std::unique_ptr<newcomers[]> newcomers_; // of each executor

  // Written before trials_, whose release pairs with the acquire in latest_trial(): who sees a
  // number sees a trial.
  std::atomic<double> latest_overhead_{0};
  std::atomic<std::uint64_t> trials_{0};

  // Statistics: relaxed, nobody acts on them.
  std::array<std::atomic<std::uint64_t>, counter_count> counts_{};
  std::atomic<double> pressure_{0};
  shown_posterior shown_function_time_;
  shown_posterior shown_overhead_;
};

} // namespace basal::mab
