/// fib by forks. Unnamed on purpose: each file that includes it has a function of its own, compiled
/// with its own flags.
#pragma once

#include <basal/posse/posse.hpp>

namespace basal::bench {
namespace {

long fib(posse::member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b]
    = m.fork_merge([=](auto& k) { return fib(k, n - 1); }, [=](auto& k) { return fib(k, n - 2); });
  return a + b;
}

inline constexpr posse::pure<fib> pure_fib{"fib"};

} // namespace
} // namespace basal::bench
