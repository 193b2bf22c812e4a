#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <basal/solver/batch.hpp>
#include <basal/solver/detail/tick_scheduler.hpp>

#include "lane.hpp"

namespace basal::solver {

/// The requests of a batch, or the one of solve(). A unit is a few requests that share
/// a matrix and all else but their right-hand sides, so that they may be solved as one
/// block, or a single request.
template <class T>
class batch_job final : public job {
public:
  using outcomes = std::vector<solve_outcome<T>>;

  /// Assigns the ids. `batch` is 0 for a job of a single request that is no batch.
  batch_job(batch_solver::core& shared, std::vector<solve_request<T>> requests,
            batch_options options, std::uint64_t batch, std::function<void(outcomes)> done);

  std::uint32_t units() const noexcept {
    return static_cast<std::uint32_t>(units_.size());
  }

  std::uint64_t first_id() const noexcept {
    return first_id_;
  }

private:
  /// Requests that share a plan, or may be a block. Whoever needs the plan first makes it; when
  /// two do at the same time, both make one and the first to finish wins, so nobody waits.
  struct group {
    struct made {
      std::optional<solve_plan<T>> plan;
      std::optional<error> failure;
    };

    std::vector<std::uint32_t> members; ///< numbers of requests, ascending

    // Written once by a lane, read by all. The release compare-exchange pairs with the
    // acquire load and publishes what it points to.
    std::atomic<const made*> planned{nullptr};

    ~group() {
      delete planned.load(std::memory_order_relaxed);
    }
  };

  struct unit {
    group* shares;       ///< its members from `first` on; null: request `first` alone, which
    std::uint32_t first; ///< brings its plan
    std::uint32_t count;

    std::span<const std::uint32_t> members() const noexcept {
      return {shares != nullptr ? shares->members.data() + first : &first, count};
    }
  };

  void run_unit(std::uint32_t number, lane& on) noexcept override;
  void refuse_unit(std::uint32_t number, refusal why) noexcept override;
  void finish() noexcept override;

  void divide(std::uint32_t block_width);
  const typename group::made& plan_of(group& g) noexcept;
  void run_planned(std::span<const std::uint32_t> members, const solve_plan<T>& plan,
                   lane& on) noexcept;

  void run_single(std::uint32_t request, const solve_plan<T>& plan, lane& on) noexcept;
  bool run_block(std::span<const std::uint32_t> members, const solve_plan<T>& plan, lane& on);
  void fall_back(std::uint32_t request, const solve_plan<T>& failed, budget left,
                 std::uint64_t began, lane& on) noexcept;
  tick_result attempt(std::uint32_t request, const solve_plan<T>& plan, budget left, lane& on);
  void solve(std::uint32_t request, const solve_plan<T>& first, budget left, lane& on);

  std::uint64_t begin(std::uint32_t request) noexcept;
  void complete(std::uint32_t request, std::uint64_t began) noexcept;
  void fail(std::uint32_t request, error why) noexcept;
  void tell_progress(std::size_t requests) noexcept;
  error error_of(refusal why) const;
  error stopped() const;

  std::vector<solve_request<T>> requests_;
  outcomes outcomes_;
  const std::uint64_t batch_;
  const std::uint64_t first_id_;
  const std::uint64_t began_; ///< tick_clock, of the whole

  std::deque<group> groups_;
  std::vector<unit> units_;

  std::function<void(outcomes)> done_;

  std::function<void(batch_progress)> on_progress_;
  std::mutex progress_mutex_;
  std::size_t progress_told_ = 0; ///< guarded
  /// Relaxed: a number to show.
  std::atomic<std::size_t> requests_done_{0};
};

} // namespace basal::solver
