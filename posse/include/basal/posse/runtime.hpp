#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/hand_over.hpp>
#include <basal/posse/call_options.hpp>
#include <basal/posse/config.hpp>
#include <basal/posse/detail/cells.hpp>
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

  /// Calls `function(member&)`, or `function()`, as a parallel computation and
  /// returns what it returns, or throws what it throws. It runs right here: on an executor, on the
  /// calling fiber; on any other thread, on a fiber of an executor that this thread is until the
  /// call ends, in place of a compute executor, which has less to do in the meantime. Where
  /// `compute_executors` threads do so already, or, if these are as many as the CPUs, twice as many
  /// and at least 16, a compute executor runs it, and the caller sleeps.
  /// @throws cancelled, memory_limit_exceeded, runtime_stopped
  template <class Function>
  auto run(Function&& function) {
    return run_as(std::forward<Function>(function), {});
  }

  /// The same within limits of its own.
  template <class Function>
  auto run(const call_options& options, Function&& function) {
    return run_as(std::forward<Function>(function), {.options = &options});
  }

  /// Like run(), but always on a compute executor. On an executor of another
  /// pool the calling fiber is suspended meanwhile, not the thread.
  /// @throws cancelled, memory_limit_exceeded, runtime_stopped
  template <class Function>
  auto offload(Function&& function) {
    return offload_as(std::forward<Function>(function), {.offloaded = true});
  }

  /// The same within limits of its own.
  template <class Function>
  auto offload(const call_options& options, Function&& function) {
    return offload_as(std::forward<Function>(function), {.options = &options, .offloaded = true});
  }

  /// Runs `work` on a compute executor and waits for it, as offload() does: for
  /// work that is no computation. On one of them it must be called in place.
  /// @param work with its caller's frame, which must outlive the call
  /// @param options whose deadline and stop token end the wait of work that has
  ///                not begun; null: there are none
  /// @throws runtime_stopped, cancelled when it will not run any more
  void await(executors::awaited_work& work, const call_options* options = nullptr);

  /// Makes every computation throw `cancelled` at its next safepoint, now and
  /// from now on. For shutdown.
  void cancel() noexcept;

  /// Whether cancel() was called. Any thread; relaxed.
  bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed);
  }

  /// Takes no more computations, stops and joins the compute executors, and waits for threads that
  /// are in a call. Not from one of either. A second call has no effect.
  void stop(executors::stop_mode mode);

  /// The same, but waits at most for `patience`.
  /// @returns the executors still running then, see executor_pool::stop; empty if all have stopped
  [[nodiscard]] std::vector<executors::straggler> stop(executors::stop_mode mode,
                                                       std::chrono::nanoseconds patience);

  /// Tells the runtime of executors, other than its own, on which computations
  /// run: idle compute executors ask them for work as well. Before such a pool
  /// is used, and at most `max_client_pools` times; the pool must outlive the
  /// runtime's executors, see stop(), which wake executors of it for work that
  /// waits for a CPU.
  /// @throws std::length_error
  void attach(executors::executor_pool& clients);

  /// An executor of an attached pool sleeps: compute executors get its CPU if work waits for one.
  /// Any thread, such as in pool_hooks::frees_cpu of that pool, which must stop before the runtime
  /// goes then. Without it such work may wait for 5 ms.
  void note_free_cpu() noexcept;

  /// Whether one more executor of an attached pool, which `waker` of that pool would wake, would
  /// have to share a CPU with a compute executor that looks for work to come, or is about to since
  /// it has just done a part of what runs on `waker`. On the waker's thread, such as in
  /// pool_hooks::crowds. A snapshot: compute executors that sleep tell attached pools, while of a
  /// CPU that a caller leaves their backstops know alone.
  bool is_crowded_by(const executors::executor& waker) const noexcept;

  /// Whether there are CPUs for `looker`, an executor of an attached pool that looks for a wake-up,
  /// and for a thread that may wake it, beside all other executors that run or look. Any thread,
  /// such as in pool_hooks::may_look. A snapshot.
  bool has_cpu_to_look(const executors::executor& looker) const noexcept;

  /// The compute executors. They live as long as the runtime.
  executors::executor_pool& compute() noexcept {
    return *compute_;
  }

  /// The executors that threads are which call computations (see run()); null before the first
  /// call, and where threads hand everything over. They live as long as the runtime. Any thread.
  executors::executor_pool* call_executors() noexcept {
    return callers_.load(std::memory_order_acquire);
  }

  /// The configuration that the runtime was made with. Constant.
  const runtime_config& config() const noexcept {
    return config_;
  }

  /// The counts so far: a sum over the counts of each executor.
  posse_stats stats() const;

  /// Sets the fate of victims from now on; see runtime_config::victims.
  void set_victims(victim_policy policy) noexcept {
    victims_.store(policy, std::memory_order_relaxed);
  }

  /// The fate of victims now. Any thread; relaxed.
  victim_policy victims() const noexcept {
    return victims_.load(std::memory_order_relaxed);
  }

  static constexpr std::size_t max_client_pools = 7; ///< see attach()

private:
  friend class member;
  friend class detail::computation;

  template <auto>
  friend class pure;

  /// The counters of a pool's executors. Slots are filled in order, by the
  /// constructor and attach(), and kept to the end.
  struct pool_cells {
    const executors::executor_pool* pool = nullptr;
    std::size_t size = 0;
    std::unique_ptr<detail::executor_cells[]> cells;
  };

  template <class Function>
  auto run_as(Function&& function, const detail::call_info& call);

  template <class Function>
  auto offload_as(Function&& function, const detail::call_info& call);

  template <class Function>
  decltype(auto) run_here(Function& function, const detail::call_info& call,
                          executors::executor& self);

  /// The counters that `self`, the calling thread's executor, writes.
  detail::executor_cells& cells_of(executors::executor& self) noexcept {
    auto slots = slots_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < slots; ++i)
      if (pool_cells_[i].pool == &self.pool()) [[likely]]
        return pool_cells_[i].cells[self.index()];
    return strangers_cells(self);
  }

  [[gnu::noinline, gnu::cold]] detail::executor_cells&
  strangers_cells(const executors::executor& self);

  [[gnu::noinline, gnu::cold]] static void count_failure(detail::executor_cells& cells,
                                                         const detail::call_info& call) noexcept;

  /// At a computation's end: the most that it had on one executor, and on how
  /// many it was.
  void note_memory(std::size_t bytes, std::size_t cabal) noexcept;
  void note_near_limit() noexcept {
    near_limit_.fetch_add(1, std::memory_order_relaxed);
  }

  /// The executors that callers' own threads become, made when the first one calls; null in
  /// stepped mode, and where the runtime was stopped before.
  executors::executor_pool* callers() {
    auto* made = callers_.load(std::memory_order_acquire);
    return made != nullptr ? made : make_callers();
  }

  [[gnu::noinline, gnu::cold]] executors::executor_pool* make_callers();

  /// How many threads that call neither wait for a merge nor were blocked by what they call: as
  /// many compute executors stay idle in their stead.
  std::size_t busy_callers() const noexcept {
    const auto* made = callers_.load(std::memory_order_acquire);
    if (made == nullptr)
      return 0;
    const auto hosting = made->num_hosting();
    return hosting - std::min(hosting, made->num_idle() + made->num_blocked());
  }

  /// How many idle compute executors may be given something: while as many executors of all pools
  /// run as there are CPUs, another one would only take turns with them, and with the next one
  /// that a message wakes. A snapshot, as all that it is made of.
  std::size_t num_available() const noexcept;

  /// How many executors run, `callers` threads that call included. A snapshot.
  std::size_t num_running(std::size_t callers) const noexcept;

  /// How many CPUs no executor has, while `callers` threads that call compute. A snapshot.
  std::size_t num_free_cpus(std::size_t callers) const noexcept;

  /// A compute executor sleeps: executors of attached pools get its CPU if work waits for one.
  void tell_clients_of_free_cpu() const noexcept;

  /// Whether one more compute executor may be woken for work in their pool's queues.
  bool has_cpu_for_queued_work() const noexcept;

  void attach_locked(executors::executor_pool& clients);

  void ask(const executors::executor& idle) noexcept;
  executors::pool_hooks waiting_hooks() noexcept;
  bool is_superfluous(const executors::executor& idle) const noexcept;
  std::uint64_t theft_expected_within(const executors::executor& idle) const noexcept;
  void delegate(detail::delegation& d, const detail::computation::target& to) noexcept;
  static executors::work_item item_of(detail::parcel& sent) noexcept;
  static void receive(detail::parcel* sent, executors::executor& self) noexcept;
  static void run_delegate(detail::delegation* d, executors::executor& self) noexcept;

  /// The compute executors beside `self` that wait at their hatches, the next few round about, for
  /// which each look may take a cache line: calls `f(executor&, hatch&)` until it returns true.
  /// @returns whether it did
  template <class F>
  bool visit_open_hatches(const executors::executor& self, F f) const noexcept;

  bool any_hatch_open(const executors::executor& self) const noexcept;
  std::size_t num_open_hatches(const executors::executor& self) const noexcept;

  /// For the next part of any computation, after `self` has done one.
  detail::delegation* wait_at_hatch(executors::executor& self,
                                    detail::executor_cells& cells) noexcept;

  const runtime_config config_;
  const std::uint64_t quantum_ticks_;

  /// Costs of a theft with an executor that is awake, and with one that sleeps.
  const std::uint64_t awake_ticks_;
  const std::uint64_t asleep_ticks_;

  /// runtime_config::stay, in real time; 0 where time is simulated, and with one CPU.
  const std::uint64_t hatch_ticks_;

  /// For the executors of all pools together.
  const std::size_t cpus_;

  /// Work that takes less is not offered when it begins: the parts of two would not
  /// pay for the cheapest theft, or nothing is stolen by its worth.
  const std::uint64_t least_offer_;

  /// With one CPU there are no thieves for whom a range's steps must be short: to its pace, so many
  /// elements are left at least.
  const std::size_t least_left_;

  /// Written by cancel(), read at safepoints. Relaxed: it only has to arrive.
  std::atomic<bool> cancelled_{false};

  /// Pools whose executors may run members. Slots are filled in order, by the
  /// constructor and attach(); the release store of `pool_count_` publishes.
  executors::executor_pool* pools_[max_client_pools + 2] = {};
  std::atomic<std::size_t> pool_count_{0};

  pool_cells pool_cells_[max_client_pools + 2];
  std::atomic<std::size_t> slots_{0}; ///< of pool_cells_; published like pool_count_

  /// Of executors that belong to no pool of ours and yet run computations here:
  /// those of another runtime, whose function calls run() of this one.
  mutable std::mutex strangers_mutex_;
  std::map<const executors::executor*, std::unique_ptr<detail::executor_cells>> strangers_;

  std::atomic<victim_policy> victims_; ///< relaxed: a preference
  std::atomic<std::uint64_t> asks_{0};
  std::atomic<std::uint64_t> called_off_{0}; ///< calls that were cancelled before they began
  std::atomic<std::size_t> most_bytes_{0};
  std::atomic<std::uint64_t> near_limit_{0};
  std::atomic<std::size_t> largest_cabal_{0};

  /// Guards what attach() writes, and the making of `own_callers_`, which is read through
  /// `callers_`: written once, in release.
  std::mutex attach_mutex_;
  std::size_t clients_ = 0; ///< attached by the user
  bool stopped_ = false;
  std::unique_ptr<executors::executor_pool> own_callers_;

  alignas(64) std::unique_ptr<executors::executor_pool> compute_;
  std::atomic<executors::executor_pool*> callers_{nullptr};
};

template <class F>
bool runtime::visit_open_hatches(const executors::executor& self, F f) const noexcept {
  constexpr std::size_t most = 16;
  if (hatch_ticks_ == 0)
    return false;
  const auto& [pool, size, cells] = pool_cells_[0]; // the runtime's own
  for (std::size_t i = 1; i <= std::min(size, most); ++i) {
    const auto at = (self.index() + i) % size;
    if (cells[at].way_in.is_open() && f(compute_->at(at), cells[at].way_in))
      return true;
  }
  return false;
}

template <class Function>
auto runtime::run_as(Function&& function, const detail::call_info& call) {
  if (auto* self = executors::executor::current())
    return run_here(function, call, *self);
  using raw = detail::raw_result_t<std::remove_reference_t<Function>>;
  auto body = [&](executors::executor& there) -> std::decay_t<raw> {
    return run_here(function, call, there);
  };
  executors::awaited_call handed{body};
  if (auto* made = callers(); made == nullptr || !handed.host_on(*made))
    await(handed, call.options);
  return handed.take();
}

template <class Function>
auto runtime::offload_as(Function&& function, const detail::call_info& call) {
  using function_type = std::remove_reference_t<Function>;
  using raw = detail::raw_result_t<function_type>;
  auto* self = executors::executor::current();
  if (self != nullptr && &self->pool() == compute_.get())
    return static_cast<std::decay_t<raw>>(run_here(function, call, *self));
  auto body = [&](executors::executor& there) -> std::decay_t<raw> {
    return run_here(function, call, there);
  };
  executors::awaited_call handed{body};
  await(handed, call.options);
  return handed.take();
}

template <class Function>
decltype(auto) runtime::run_here(Function& function, const detail::call_info& call,
                                 executors::executor& self) {
  auto& cells = cells_of(self);
  cells.computations.add();
  if (call.function != nullptr) {
    auto& of_function = cells.of(call.function->number);
    of_function.calls.add();
    if (call.offloaded)
      of_function.offloaded.add();
  }
  struct counted {
    detail::executor_cells& cells;
    ~counted() {
      cells.computations_ended.add();
    }
  } guard{cells};
  detail::computation shared{*this, call, self.running().watch()};
  if (&self.pool() == callers_.load(std::memory_order_relaxed))
    shared.caller = &self;
  try {
    if (call.options != nullptr)
      shared.expect_not_cancelled();
    member root{shared, self, cells};
    return detail::invoke_branch(function, root);
  } catch (...) {
    count_failure(cells, call);
    throw;
  }
}

} // namespace basal::posse
