/// fib by forks and by calls. Unnamed on purpose, as fib.hpp is.
#pragma once

#include "bench/posse/fib.hpp"

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

} // namespace
} // namespace basal::bench
