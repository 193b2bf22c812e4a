#pragma once

#include <basal/actors/adaptive_actor_config.hpp>
#include <basal/actors/detail/adaptive_core.hpp>
#include <basal/actors/detail/chooser_host.hpp>
#include <basal/executors/completion.hpp>
#include <basal/executors/stopwatch.hpp>
#include <basal/mab/chooser.hpp>

#include <caf/local_actor.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>

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

/// A function that is decided about once, shared by its handle and whoever runs it. Its chooser
/// makes one decision; what it has learned stays with the family.
class one_shot {
public:
  one_shot(caf::actor_system& system, mab::function_key key, const std::type_info& function,
           const adaptive_actor_config& config);
  virtual ~one_shot() = default;

  one_shot(const one_shot&) = delete;
  one_shot& operator=(const one_shot&) = delete;

  /// Runs the function here or hands it over. Once.
  /// @throws posse::runtime_stopped
  static void start(const std::shared_ptr<one_shot>& x, scope_count* scope);

  executors::completion done;
  std::exception_ptr thrown; ///< valid once `done` is set

private:
  /// Runs the function, and keeps what it returns.
  virtual void call() = 0;

  void run_here(executors::executor* here) noexcept;
  void end() noexcept;
  static void run(void* object, executors::executor& self) noexcept;
  static void discard(void* object) noexcept;
  static const executors::work_ops ops;

  const std::shared_ptr<chooser_host> host_; // keeps the family
  const mab::compute_hint hint_;
  mab::chooser chooser_;
  std::optional<mab::decision> decision_;
  std::uint64_t start_ = 0; // tick_clock
  scope_count* scope_ = nullptr;
  std::shared_ptr<one_shot> self_; // while it is on its way
};

template <class Result>
class one_shot_with_result : public one_shot {
public:
  using one_shot::one_shot;

  /// void as std::monostate.
  std::optional<std::conditional_t<std::is_void_v<Result>, std::monostate, Result>> returned;
};

template <class Function, class Result>
class one_shot_of final : public one_shot_with_result<Result> {
public:
  one_shot_of(caf::actor_system& system, const adaptive_actor_config& config, Function f)
    : one_shot_with_result<Result>(system, mab::function_key::from_type<Function>(),
                                   typeid(Function), config),
      function_(std::move(f)) {
  }

private:
  void call() override {
    // Gone with the call, like a local variable's; not when the last handle goes.
    auto function = std::move(*std::exchange(function_, std::nullopt));
    if constexpr (std::is_void_v<Result>) {
      function();
      this->returned.emplace();
    } else {
      this->returned.emplace(function());
    }
  }

  std::optional<Function> function_;
};

} // namespace detail

/// What spawn_adaptive() returns: the result, when it is there. Movable; belongs to one thread at a
/// time. Let go of without get(), the function runs nevertheless, and its result or exception is
/// dropped.
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
    return checked().done.is_set();
  }

  /// Waits and returns what the function returned, or throws what it threw. Once. In a handler the
  /// handler's fiber is suspended meanwhile; a plain thread sleeps.
  /// @throws posse::cancelled when the system ended before the function began
  /// @throws std::logic_error after get()
  Result get() {
    checked().done.wait();
    const auto taken = std::move(shot_);
    if (taken->thrown)
      std::rethrow_exception(std::move(taken->thrown));
    if constexpr (!std::is_void_v<Result>)
      return std::move(*taken->returned);
  }

private:
  friend class adaptive_scope;

  template <class Function>
  friend auto spawn_adaptive(caf::actor_system& system, Function function,
                             const adaptive_actor_config& config);

  using shot = detail::one_shot_with_result<Result>;

  explicit adaptive_future(std::shared_ptr<shot> x) noexcept : shot_(std::move(x)) {
  }

  template <class Function>
  static adaptive_future start(caf::actor_system& system, Function function,
                               const adaptive_actor_config& config, detail::scope_count* scope) {
    auto x = std::make_shared<detail::one_shot_of<Function, Result>>(system, config,
                                                                     std::move(function));
    detail::one_shot::start(x, scope);
    return adaptive_future{std::move(x)};
  }

  shot& checked() const {
    if (shot_ == nullptr)
      throw std::logic_error("the result of this adaptive_future was taken by get() or a move");
    return *shot_;
  }

  std::shared_ptr<shot> shot_;
};

/// Calls `function()` once, here and now or on a compute executor, whichever its chooser says: one
/// for all functions of its type, which are different for each lambda expression. Here means on the
/// thread that calls, which is back when the function is. Any thread.
///
///     auto sum = basal::actors::spawn_adaptive(system, [data] { return add_up(data); });
///     ...
///     use(sum.get());
///
/// `function` owns what it needs; for borrowed data see adaptive_scope. Allocates once.
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

/// Functions that borrow from the frame that spawns them: it does not end before they have.
///
///     std::vector<int> left, right;
///     {
///       basal::actors::adaptive_scope both{system};
///       both.spawn([&] { sort(left); });
///       both.spawn([&] { sort(right); });
///     } // both have ended
///
/// Belongs to one thread, or one handler. What a function throws comes out of its future's get(),
/// if somebody calls it.
class adaptive_scope {
public:
  /// @throws std::logic_error if the system does not run on basal
  explicit adaptive_scope(caf::actor_system& system) : system_(system) {
  }

  template <std::derived_from<caf::local_actor> Actor>
  explicit adaptive_scope(Actor* self) : adaptive_scope(self->home_system()) {
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
