/// fib by forks and by calls. Unnamed on purpose: each file that includes it has
/// functions of its own, compiled with its own flags.
#pragma once

#include <basal/posse/posse.hpp>

namespace basal::bench {
namespace {

[[gnu::noinline]] long fib_noinline(int n) {
  if (n < 2)
    return n;
  long a = fib_noinline(n - 1);
  asm volatile("" : "+r"(a));
  long b = fib_noinline(n - 2);
  asm volatile("" : "+r"(b));
  return a + b;
}

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
