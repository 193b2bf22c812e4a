#pragma once

#include <basal/executors/completion.hpp>
#include <basal/executors/fwd.hpp>
#include <basal/executors/work_item.hpp>
#include <basal/posse/fwd.hpp>

#include <caf/fwd.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace basal::actors::detail {

/// A function on its way to a compute executor and its result on the way back. Lives in the frame
/// of the caller, whose fiber is suspended meanwhile; so a hop allocates nothing.
///
/// Protocol: `travel` hands the job over (the queue publishes it) and waits. The compute executor
/// calls `call_`, which must not throw, sets `done_` and does not touch the job again.
class hop_job {
public:
  using function = void (*)(hop_job&) noexcept;

  hop_job(posse::runtime& compute, caf::actor_system& system, function call) noexcept;

  hop_job(const hop_job&) = delete;
  hop_job& operator=(const hop_job&) = delete;

  /// Returns when the function has run. Not run once the runtime was cancelled: a system that ends
  /// does not wait for what has not begun.
  /// @throws posse::runtime_stopped, posse::cancelled when it will not run any more
  void travel();

private:
  static void run(void* object, executors::executor& self) noexcept;
  static void discard(void* object) noexcept;
  static const executors::work_ops ops;

  posse::runtime& compute_;
  caf::actor_system& system_;
  function call_;
  executors::stopwatch* account_; // measures the caller; null if nobody does
  executors::completion done_;
  bool discarded_ = false;
};

/// Whether the calling thread is one of `compute`'s executors.
bool is_on(posse::runtime& compute) noexcept;

/// Calls `body()` on a compute executor and returns what it returns, or throws what it throws. A
/// fiber that calls it is suspended meanwhile, and goes on on its own thread; a plain thread
/// sleeps. On a compute executor it is called right here: waiting for another one could deadlock.
/// @throws posse::runtime_stopped, posse::cancelled when it will not run any more
template <class Body>
std::invoke_result_t<Body&> hop(posse::runtime& compute, caf::actor_system& system, Body& body) {
  using result = std::invoke_result_t<Body&>;
  // What a slot can hold: nothing, a pointer, or a value.
  using value
    = std::conditional_t<std::is_void_v<result>, bool,
                         std::conditional_t<std::is_reference_v<result>, std::add_pointer_t<result>,
                                            std::decay_t<result>>>;
  struct job final : hop_job {
    job(posse::runtime& r, caf::actor_system& s, Body& b) noexcept : hop_job(r, s, &call), body(b) {
    }

    static void call(hop_job& self) noexcept {
      auto& j = static_cast<job&>(self);
      try {
        if constexpr (std::is_void_v<result>)
          j.body();
        else if constexpr (std::is_reference_v<result>)
          j.returned = std::addressof(j.body());
        else
          j.returned.emplace(j.body());
      } catch (...) {
        j.thrown = std::current_exception();
      }
    }

    Body& body;
    std::optional<value> returned;
    std::exception_ptr thrown;
  };
  if (is_on(compute))
    return body();
  job there{compute, system, body};
  there.travel();
  if (there.thrown)
    std::rethrow_exception(std::move(there.thrown));
  if constexpr (std::is_reference_v<result>)
    return static_cast<result>(**there.returned);
  else if constexpr (!std::is_void_v<result>)
    return std::move(*there.returned);
}

} // namespace basal::actors::detail
