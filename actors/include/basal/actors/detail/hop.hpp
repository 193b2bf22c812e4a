#pragma once

#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/hand_over.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/runtime.hpp>

#include <type_traits>

namespace basal::actors::detail {

/// Calls `body()` on a compute executor and returns what it returns, or throws what it throws. A
/// fiber that calls it is suspended meanwhile, and goes on on its own thread; a plain thread
/// sleeps. On a compute executor it is called right here: waiting for another one could deadlock.
/// Not called once the runtime was cancelled: a system that ends does not wait for what has not
/// begun. Allocates nothing.
/// @throws posse::runtime_stopped, posse::cancelled when it will not run any more
template <class Body>
std::invoke_result_t<Body&> hop(posse::runtime& compute, Body& body) {
  const auto* self = executors::executor::current();
  if (self != nullptr && &self->pool() == &compute.compute())
    return body();
  auto there = [&](executors::executor&) -> std::invoke_result_t<Body&> {
    if (compute.is_cancelled())
      throw posse::cancelled{};
    return body();
  };
  executors::awaited_call call{there};
  compute.await(call);
  return call.take();
}

} // namespace basal::actors::detail
