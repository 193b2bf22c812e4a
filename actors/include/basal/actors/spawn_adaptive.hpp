#pragma once

#include <basal/actors/adaptive_actor_config.hpp>
#include <basal/actors/detail/adaptive_core.hpp>
#include <basal/actors/detail/chooser_host.hpp>
#include <basal/executors/completion.hpp>
#include <basal/executors/hand_over.hpp>
#include <basal/mab/chooser.hpp>

#include <caf/local_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace basal::actors {

class adaptive_scope;

namespace detail {

/// Counts what a scope has to wait for: its owner and its functions.
class scope_count {
public:
  void begin_one() noexcept {
    // Relaxed: the owner counts for one until it waits.
    pending_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Release, so that who waits sees what ended; acquire for the last one, which tells it.
  void end_one() noexcept {
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      all_done_.set();
  }

  /// The owner, once.
  void wait() noexcept {
    end_one();
    all_done_.wait();
  }

private:
  std::atomic<std::size_t> pending_{1};
  executors::completion all_done_;
};

/// A function that is decided about once, by what was allowed to its like lately or by a chooser,
/// whose one outcome stays with the family.
class one_shot : public executors::detached_work {
public:
  one_shot(caf::actor_system& system, mab::function_key key, const std::type_info* function,
           const adaptive_actor_config& config);

  /// Runs the function here or hands it over. Once.
  /// @throws posse::runtime_stopped
  static void start(executors::work_reference<one_shot> x, scope_count* scope);

  /// After the end. @throws posse::cancelled if it did not run
  void expect_run() const;

private:
  void run_granted(chooser_host::lane& lane) noexcept;
  void run_and_tell(executors::executor* here, executors::executor* handed_to) noexcept;
  void end() noexcept;
  static void run_there(void* object, executors::executor& self) noexcept;
  static void discard(void* object) noexcept;
  static const executors::work_ops ops;

  const std::shared_ptr<chooser_host> host_; // keeps the family
  const mab::compute_hint hint_;
  mab::family& family_;
  std::optional<mab::chooser> chooser_; // nothing: its run was granted
  std::optional<mab::decision> decision_;
  std::uint64_t start_ = 0; // tick_clock
  scope_count* scope_ = nullptr;
  bool discarded_ = false;
};

} // namespace detail

/// The return type of spawn_adaptive(): the result, when it is there. Movable; belongs to one
/// thread at a time. Let go of without get(), the function runs nevertheless, and its result or
/// exception is dropped.
template <class Result>
class adaptive_future {
public:
  /// Whether there is a result to get; false after get().
  bool valid() const noexcept {
    return shot_ != nullptr;
  }

  /// Whether get() will not wait.
  /// @throws std::logic_error after get()
  bool is_ready() const {
    return checked().finished().is_set();
  }

  /// Waits and returns what the function returned, or throws what it threw. Once. In a handler the
  /// handler's fiber is suspended meanwhile; a plain thread sleeps.
  /// @throws posse::cancelled when the system ended before the function began
  /// @throws std::logic_error after get()
  Result get() {
    checked().finished().wait();
    const auto taken = std::move(shot_);
    taken->expect_run();
    return taken->take();
  }

private:
  friend class adaptive_scope;

  template <class Function>
  friend auto spawn_adaptive(caf::actor_system& system, Function function,
                             const adaptive_actor_config& config);

  using shot = executors::detached_result<detail::one_shot, Result>;

  /// Takes over the asker's reference.
  explicit adaptive_future(shot& x) noexcept : shot_(&x) {
  }

  template <class Function>
  static adaptive_future start(caf::actor_system& system, Function function,
                               const adaptive_actor_config& config, detail::scope_count* scope) {
    auto* x = new executors::detached_call<detail::one_shot, Function, Result>(
      std::move(function), system, mab::function_key::from_type<Function>(), &typeid(Function),
      config);
    adaptive_future result{*x};
    detail::one_shot::start(executors::work_reference<detail::one_shot>{x}, scope);
    return result;
  }

  shot& checked() const {
    if (shot_ == nullptr)
      throw std::logic_error("the result of this adaptive_future was taken by get() or a move");
    return *shot_;
  }

  executors::work_reference<shot> shot_;
};

/// Calls `function()` once, here and now or on a compute executor, whichever its chooser says: one
/// for all functions of its type, which are different for each lambda expression. Here means on the
/// thread that calls, which is back when the function is. Any thread.
///
///     auto sum = basal::actors::spawn_adaptive(system, [data] { return add_up(data); });
///     ...
///     use(sum.get());
///
/// `function` owns what it needs; for borrowed data see adaptive_scope. Both it and its result may
/// point into the collected heap, wherever the future is. Allocates once.
/// @throws posse::runtime_stopped when the system has ended
/// @throws std::logic_error, std::invalid_argument see adaptive()
template <class Function>
auto spawn_adaptive(caf::actor_system& system, Function function,
                    const adaptive_actor_config& config = {}) {
  using result = std::invoke_result_t<Function&>;
  static_assert(!std::is_reference_v<result>, "the function must return a value");
  return adaptive_future<result>::start(system, std::move(function), config, nullptr);
}

/// In an actor: `spawn_adaptive(self, function)`. The function may run while the handler does, so
/// it must not use the actor's state.
template <std::derived_from<caf::local_actor> Actor, class Function>
auto spawn_adaptive(Actor* self, Function function, const adaptive_actor_config& config = {}) {
  return spawn_adaptive(self->home_system(), std::move(function), config);
}

/// The same in the system of a scoped actor.
template <class Function>
auto spawn_adaptive(const caf::scoped_actor& self, Function function,
                    const adaptive_actor_config& config = {}) {
  return spawn_adaptive(self.home_system(), std::move(function), config);
}

/// Functions that borrow from the frame that spawns them: it does not end before they have.
///
///     std::vector<int> left, right;
///     {
///       basal::actors::adaptive_scope both{system};
///       both.spawn([&] { sort(left); });
///       both.spawn([&] { sort(right); });
///     } // both have ended
///
/// Belongs to one thread, or one handler. An exception of a function comes out of its future's
/// get(), if somebody calls it.
class adaptive_scope {
public:
  /// @throws std::logic_error if the system does not run on basal
  explicit adaptive_scope(caf::actor_system& system) : system_(system) {
  }

  /// For the system of `self`.
  template <std::derived_from<caf::local_actor> Actor>
  explicit adaptive_scope(Actor* self) : adaptive_scope(self->home_system()) {
  }

  /// The same.
  explicit adaptive_scope(const caf::scoped_actor& self) : adaptive_scope(self.home_system()) {
  }

  /// Waits for all functions; in a handler its fiber is suspended meanwhile.
  ~adaptive_scope() {
    count_.wait();
  }

  adaptive_scope(const adaptive_scope&) = delete;
  adaptive_scope& operator=(const adaptive_scope&) = delete;

  /// As spawn_adaptive().
  template <class Function>
  auto spawn(Function function, const adaptive_actor_config& config = {}) {
    using result = std::invoke_result_t<Function&>;
    static_assert(!std::is_reference_v<result>, "the function must return a value");
    return adaptive_future<result>::start(system_, std::move(function), config, &count_);
  }

private:
  caf::actor_system& system_;
  detail::scope_count count_;
};

} // namespace basal::actors
