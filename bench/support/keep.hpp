// Holds the compiler to what a benchmark computes.
#pragma once

namespace basal::bench {

/// Makes the compiler compute `value`. Google Benchmark's DoNotOptimize does not do: of variables,
/// in 1.7, its constraint "+m,r" lets g++ 12 lose the value, and of constants it is deprecated
/// later.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

} // namespace basal::bench
