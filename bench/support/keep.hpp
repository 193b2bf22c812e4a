// Holds the compiler to what a benchmark computes.
#pragma once

namespace basal::bench {

/// What was computed must exist. Beside Google Benchmark's DoNotOptimize: that for variables loses
/// the value with g++ 12 (1.7 has the constraint "+m,r", which it may satisfy with two different
/// places), and that for constants is deprecated later on.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

} // namespace basal::bench
