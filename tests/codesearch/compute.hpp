#pragma once

#include <basal/posse/runtime.hpp>

#include <cstddef>
#include <utility>

namespace codesearch::test {

/// Runs `f(member&)` on `executors` compute executors of its own and returns the result.
template <class F>
auto compute(F&& f, std::size_t executors = 1) {
  basal::posse::runtime_config config;
  config.compute_executors = executors;
  basal::posse::runtime runtime(config);
  return runtime.run(std::forward<F>(f));
}

} // namespace codesearch::test
