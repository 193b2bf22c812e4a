#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <basal/executors/completion.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/stopwatch.hpp>
#include <basal/posse/config.hpp>
#include <basal/posse/detail/collector.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>
#include <basal/posse/stats.hpp>

namespace basal::posse {

/// The compute executors and what fork/merge needs beside them. Members may be
/// called from any thread unless they say otherwise.
class runtime {
public:
  /// Starts the compute executors.
  /// @throws std::invalid_argument see runtime_config::validate
  /// @throws std::system_error when the kernel refuses a thread or a stack
  explicit runtime(runtime_config config = {});

  /// Cancels what still runs, discards what has not begun, and stops. No
  /// caller may be inside run() or offload() on a thread that is not one of
  /// this runtime's executors.
  ~runtime();

  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Calls `function(member&)` as a parallel computation and returns what it
  /// returns, or throws what it throws. On an executor it runs right here, on
  /// the calling fiber; any other thread hands it to a compute executor and
  /// sleeps until it is done.
  /// @throws cancelled, runtime_stopped
  template <class Function>
  auto run(Function&& function) {
    return run_as(std::forward<Function>(function), nullptr);
  }

  /// Like run(), but always on a compute executor. On an executor of another
  /// pool the calling fiber is suspended meanwhile, not the thread.
  /// @throws cancelled, runtime_stopped
  template <class Function>
  auto offload(Function&& function) {
    return offload_as(std::forward<Function>(function), nullptr);
  }

  /// Makes every computation throw `cancelled` at its next safepoint, now and
  /// from now on. For shutdown.
  void cancel() noexcept;

  bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed);
  }

  /// Takes no more computations, and stops and joins the compute executors. Not
  /// from one of them. A second call has no effect.
  void stop(executors::stop_mode mode);

  /// Tells the runtime of executors, other than its own, on which computations
  /// run: idle compute executors ask them for work as well. Before such a pool
  /// is used, and at most `max_client_pools` times; the pool must outlive the
  /// runtime's executors, see stop().
  /// @throws std::length_error
  void attach(executors::executor_pool& clients);

  executors::executor_pool& compute() noexcept {
    return *compute_;
  }

  const runtime_config& config() const noexcept {
    return config_;
  }

  posse_stats stats() const;

  static constexpr std::size_t max_client_pools = 7;

private:
  friend class member;

  template <auto>
  friend class pure;

  template <class Function>
  class handed_over;

  /// Relaxed: statistics. Written at quantum ends, thefts and calls.
  struct counters {
    std::atomic<std::uint64_t> computations{0}, computations_ended{0}, quanta{0}, yields{0},
      thefts{0}, merges{0}, failed_merges{0}, merge_waits{0}, asks{0}, nobody_idle{0},
      actors_first{0}, once_a_quantum{0}, too_young{0};
  };

  static void count(std::atomic<std::uint64_t>& c) noexcept {
    c.fetch_add(1, std::memory_order_relaxed);
  }

  /// While a member runs: marks its executor as one that answers when asked,
  /// and names the work.
  class member_scope {
  public:
    member_scope(executors::executor& self, const detail::computation& origin) noexcept
      : self_(self),
        attentive_before_(self.attentive().load(std::memory_order_relaxed)),
        name_before_(self.running().name_work(origin.name())) {
      self.attentive().store(true, std::memory_order_relaxed);
    }

    ~member_scope() {
      self_.attentive().store(attentive_before_, std::memory_order_relaxed);
      self_.running().name_work(name_before_);
    }

  private:
    executors::executor& self_;
    bool attentive_before_;
    const char* name_before_;
  };

  template <class Function>
  auto run_as(Function&& function, detail::function_record* record) {
    if (auto* self = executors::executor::current())
      return run_here(function, record, *self);
    return offload_as(std::forward<Function>(function), record);
  }

  template <class Function>
  auto offload_as(Function&& function, detail::function_record* record);

  template <class Function>
  decltype(auto) run_here(Function& function, detail::function_record* record,
                          executors::executor& self);

  void submit(executors::work_item item);
  void ask(const executors::executor& idle) noexcept;
  void delegate(detail::delegation& d, executors::executor& to) noexcept;
  static void run_delegate(detail::delegation& d, executors::executor& self) noexcept;

  const runtime_config config_;
  const std::uint64_t quantum_ticks_;

  /// Written by cancel(), read at safepoints. Relaxed: it only has to arrive.
  std::atomic<bool> cancelled_{false};

  /// Pools whose executors may run members. Slots are filled in order, by the
  /// constructor and attach(); the release store of `pool_count_` publishes.
  executors::executor_pool* pools_[max_client_pools + 1] = {};
  std::atomic<std::size_t> pool_count_{0};

  alignas(64) counters counters_;
  alignas(64) std::unique_ptr<executors::executor_pool> compute_;
};

/// A computation on its way to a compute executor. Lives in the waiting
/// caller's frame.
template <class Function>
class runtime::handed_over {
public:
  handed_over(runtime& host, Function& function, detail::function_record* record) noexcept
    : host_(host),
      function_(function),
      record_(record),
      account_(executors::delegated_time::current_account()) {
  }

  detail::branch_result_t<Function> wait() {
    detail::enter_collected_heap(); // the result arrives in this thread's frame
    host_.submit({this, &ops});
    done_.wait();
    if (error_)
      std::rethrow_exception(std::move(error_));
    return std::move(*result_);
  }

private:
  static void execute(void* object, executors::executor& self) noexcept {
    auto& h = *static_cast<handed_over*>(object);
    try {
      executors::delegated_time time{self, h.account_};
      auto call = [&h](member& m) { return detail::call_branch(h.function_, m); };
      h.result_.emplace(h.host_.run_here(call, h.record_, self));
    } catch (...) {
      h.error_ = std::current_exception();
    }
    h.done_.set(); // `h` may be gone from here on
  }

  static void discard(void* object) noexcept {
    auto& h = *static_cast<handed_over*>(object);
    h.error_ = std::make_exception_ptr(cancelled{});
    h.done_.set();
  }

  static constexpr executors::work_ops ops{&execute, &discard};

  runtime& host_;
  Function& function_;
  detail::function_record* record_;
  executors::stopwatch* account_; ///< measures the caller; null if nobody does
  executors::completion done_;
  std::optional<detail::branch_result_t<Function>> result_;
  std::exception_ptr error_;
};

template <class Function>
auto runtime::offload_as(Function&& function, detail::function_record* record) {
  using function_type = std::remove_reference_t<Function>;
  using raw = detail::raw_result_t<function_type>;
  auto* self = executors::executor::current();
  if (self != nullptr && &self->pool() == compute_.get())
    return static_cast<std::decay_t<raw>>(run_here(function, record, *self));
  handed_over<function_type> call{*this, function, record};
  if constexpr (std::is_void_v<raw>)
    call.wait();
  else
    return call.wait();
}

template <class Function>
decltype(auto) runtime::run_here(Function& function, detail::function_record* record,
                                 executors::executor& self) {
  struct counted {
    counters& c;
    ~counted() {
      count(c.computations_ended);
    }
  } guard{counters_};
  count(counters_.computations);
  detail::computation shared{*this, record, self.running().watch()};
  member_scope scope{self, shared};
  member root{shared, self};
  return function(root);
}

} // namespace basal::posse
