#pragma once

// Work that runs elsewhere and comes back: the one way in which a function gets
// from its caller to an executor, and what it returned or threw gets back. Waiting
// callers keep all of it in their frame (awaited_call); work that others will ask
// for later is an object with references (detached_work).

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <basal/executors/completion.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/carrier.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/executors/event.hpp>
#include <basal/executors/fwd.hpp>
#include <basal/executors/work_item.hpp>

namespace basal::executors {

/// The result of a call, or its exception: a value, a reference, or void. Must lie where a
/// collector looks: in a frame, or in an object that is visible_to_collector. An exception does
/// not: let it carry no pointer into a collected heap.
template <class Result>
class call_result {
public:
  /// Calls `function()`. Once.
  template <class Function>
  void fill(Function&& function) noexcept {
    BASAL_ASSERT(!value_ && !error_, "a result is filled once");
    try {
      if constexpr (std::is_void_v<Result>) {
        function();
        value_.emplace();
      } else if constexpr (std::is_reference_v<Result>) {
        auto&& returned = function();
        value_ = std::addressof(returned);
      } else {
        value_.emplace(function());
      }
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  /// Nothing was called.
  void fail(std::exception_ptr why) noexcept {
    BASAL_ASSERT(why != nullptr, "a call that failed has an exception");
    BASAL_ASSERT(!value_ && !error_, "a result is filled once");
    error_ = std::move(why);
  }

  /// Whether take() will throw. After fill() or fail().
  bool failed() const noexcept {
    return error_ != nullptr;
  }

  /// Returns or throws it, once, after fill() or fail().
  Result take() {
    BASAL_ASSERT(value_ || error_, "a result is taken once, after the call's end");
    enter_collected_heap(); // the value comes to this thread's frame
    if (error_)
      std::rethrow_exception(std::move(error_));
    if constexpr (std::is_reference_v<Result>)
      return static_cast<Result>(**value_);
    else if constexpr (!std::is_void_v<Result>)
      return std::move(*value_);
  }

private:
  struct nothing {};

  using slot
    = std::conditional_t<std::is_void_v<Result>, nothing,
                         std::conditional_t<std::is_reference_v<Result>, std::add_pointer_t<Result>,
                                            std::remove_cv_t<Result>>>;

  std::optional<slot> value_;
  std::exception_ptr error_;
};

/// The end of awaited work.
enum class errand_end : std::uint8_t {
  ran,
  refused,   ///< the pool had stopped
  discarded, ///< the pool stopped before it began
  expired,   ///< its deadline passed before it began
  stopped,   ///< a stop was requested before it began
};

/// Until when work may begin. Whether it ends in time is its own affair.
struct begin_limits {
  /// The default is none.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::stop_token stop = {}; ///< when a stop is requested, work that has not begun will not
};

/// Decides who takes a piece of queued work: the executor that begins it, or one of those who call
/// it off. Once taken, it is nobody else's. `Atomic` is a parameter so that tests can run the same
/// code under a controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_claim {
public:
  /// @returns whether the caller is the first.
  bool take() noexcept {
    // Acquire and release, since each may go on with what the other has written.
    return !taken_.exchange(true, std::memory_order_acq_rel);
  }

private:
  Atomic<bool> taken_{false};
};

/// Work whose caller waits for it: all that an awaited_call has in common.
///
/// Protocol: run_on() hands `this` over (the queue publishes it) and waits. The
/// executor calls `body_`, sets `done_`, and does not touch the object again.
///
/// With limits the caller may go on, and its frame be gone, while the queue still
/// has the work. So what it has is a ticket, an object with two references, which
/// leads to the frame only for whoever claims it first: the executor, the alarm at
/// the deadline, or whoever requests the stop. The latter two set `done_` at once;
/// an executor that comes too late drops the ticket and does nothing.
class awaited_work {
public:
  awaited_work(const awaited_work&) = delete;
  awaited_work& operator=(const awaited_work&) = delete;

  /// Queues the work and returns when it has run or never will. A fiber that
  /// waits is suspended meanwhile and goes on on its own thread; a plain thread
  /// sleeps. Once; not on an executor of `pool`, which may have no other.
  /// Allocates nothing. @throws std::bad_alloc where a queue must grow and cannot
  errand_end run_on(executor_pool& pool);

  /// The same, but gives up when the work has not begun within its limits: at
  /// about its deadline, however busy the executors are. Allocates a ticket.
  /// @throws std::bad_alloc, std::system_error with nothing queued
  errand_end run_on(executor_pool& pool, const begin_limits& limits);

  /// Runs the work on the calling thread, which is no executor's, as executor_pool::host says.
  /// @returns false, with nothing done, when that refuses
  [[nodiscard]] bool host_on(executor_pool& pool);

protected:
  /// The function that a derived class runs: `self` on the executor `there`.
  using body_function = void (*)(awaited_work& self, executor& there) noexcept;

  /// Captures what the caller's work has (carrier), which the body finds on the executor.
  explicit awaited_work(body_function body) noexcept : body_(body), carried_(errand::awaited) {
  }

  ~awaited_work() = default;

private:
  class ticket;

  void run(executor& self) noexcept;
  void call(executor& self) noexcept;
  void end_unrun(errand_end how) noexcept;
  static const work_ops ops;
  static const work_ops hosted_ops;

  const body_function body_;
  carried carried_;
  completion done_;
  errand_end end_ = errand_end::ran; ///< written before `done_` is set
};

/// A call of `body(executor&)` on an executor, in the frame of the caller who
/// waits for it.
template <class Body>
class awaited_call final : public awaited_work {
public:
  /// The return type of `body`.
  using result = std::invoke_result_t<Body&, executor&>;

  /// `body` must outlive it.
  explicit awaited_call(Body& body) noexcept : awaited_work(&call), body_(body) {
  }

  /// Its result, or throws its exception; once, if it ran.
  result take() {
    return result_.take();
  }

private:
  static void call(awaited_work& self, executor& there) noexcept {
    auto& mine = static_cast<awaited_call&>(self);
    mine.result_.fill([&]() -> result { return mine.body_(there); });
  }

  Body& body_;
  call_result<result> result_;
};

/// Work about whose end others ask later: the part that all detached_calls have in common. An
/// object of its own, which its runner and its handles hold a reference to. Its content is visible
/// to a collector, wherever the handle is.
///
/// Exactly one of run() and forget() is called, once, by whoever has it; then
/// announce(). Both destroy the function: a handle keeps the result and nothing
/// else.
class detached_work : public visible_to_collector {
public:
  detached_work() = default;
  detached_work(const detached_work&) = delete;
  detached_work& operator=(const detached_work&) = delete;

  /// Calls the function and keeps what comes of it.
  /// @param self the executor to which it was handed over; null where it never
  ///             left the thread that made it
  /// @returns whether it returned; false if it threw
  bool run(executor* self) noexcept;

  /// Instead of run(): it will not be called.
  void forget() noexcept;

  /// Tells those who wait. The caller has a reference.
  void announce() noexcept {
    finished_.set();
  }

  /// Announced: then what run() or forget() left is visible.
  event& finished() noexcept {
    return finished_;
  }

  /// Gives one of the two references back.
  void release() noexcept {
    // Acquire for the last one, which destroys what the others have written.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

protected:
  virtual ~detached_work() = default;

private:
  /// Calls the function, keeps what comes of it. @returns whether it returned.
  virtual bool call() noexcept = 0;

  virtual void destroy_function() noexcept = 0;

  std::atomic<std::uint32_t> references_{2}; ///< the runner's and the asker's
  carried carried_{errand::detached};
  event finished_;
};

/// A reference to detached work.
struct releases_work {
  /// Gives the reference back.
  void operator()(detached_work* work) const noexcept {
    work->release();
  }
};
template <class Work>
using work_reference = std::unique_ptr<Work, releases_work>;

/// The part of its work that a handle knows. `Kind` is detached_work or derived from it.
template <class Kind, class Result>
class detached_result : public Kind {
public:
  using Kind::Kind;

  /// Its result, or throws its exception; once, if it ran.
  Result take() {
    return result_.take();
  }

protected:
  /// Filled by the derived class, on the executor that runs the call.
  call_result<Result> result_;
};

/// A call of a function that it owns.
template <class Kind, class Function, class Result = std::invoke_result_t<Function&>>
class detached_call final : public detached_result<Kind, Result> {
public:
  /// @param function is moved or copied into this object, which destroys it when the call has ended
  /// @param kinds_own arguments of the constructor of `Kind`
  template <class F, class... Args>
  explicit detached_call(F&& function, Args&&... kinds_own)
    : detached_result<Kind, Result>(std::forward<Args>(kinds_own)...),
      function_(std::in_place, std::forward<F>(function)) {
  }

private:
  bool call() noexcept override {
    BASAL_ASSERT(function_, "detached work runs once, and not after forget()");
    this->result_.fill([this]() -> Result { return std::invoke(*function_); });
    return !this->result_.failed();
  }

  void destroy_function() noexcept override {
    function_.reset();
  }

  std::optional<Function> function_;
};

} // namespace basal::executors
