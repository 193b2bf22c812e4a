/// The items that all implementations compute: each is a chain of multiplications, whose end can be
/// foretold.
#pragma once

#include <basal/posse/pure.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fcntl.h>

namespace basal::bench {

struct job {
  std::uint64_t number = 0;
  std::uint64_t steps = 0;
};

template <class Fields>
auto inspect(Fields& f, job& j) {
  return f(j.number, j.steps);
}

inline constexpr std::uint64_t chain_factor = 6364136223846793005U;
inline constexpr std::uint64_t chain_summand = 1442695040888963407U;

/// The process that is the first to take the item that BASAL_BENCH_DEADLY names kills itself.
/// "NUMBER FILE": the file tells the first one from the others, and when that was.
inline void die_of(std::uint64_t number) {
  static const char* const deadly = std::getenv("BASAL_BENCH_DEADLY");
  if (deadly == nullptr)
    return;
  char* file = nullptr;
  if (std::strtoull(deadly, &file, 10) != number)
    return;
  if (::open(file + 1, O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0600) >= 0)
    std::raise(SIGKILL);
}

inline std::uint64_t walk(const job& j) {
  die_of(j.number);
  auto x = j.number + 1;
  for (std::uint64_t i = 0; i < j.steps; ++i)
    x = x * chain_factor + chain_summand;
  return x;
}

/// The result of walk(), in a number of steps that grows with the logarithm of theirs: n steps are
/// one multiplication and one addition, too, and twice as many steps are these twice.
inline std::uint64_t foretold(const job& j) {
  std::uint64_t x = j.number + 1;
  std::uint64_t factor = chain_factor;
  std::uint64_t summand = chain_summand;
  for (auto steps = j.steps; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0)
      x = x * factor + summand;
    summand = (factor + 1) * summand;
    factor *= factor;
  }
  return x;
}

/// Steps that take this long on this machine.
inline std::uint64_t steps_of(std::chrono::microseconds time) {
  constexpr std::uint64_t probe = 20'000'000;
  static const double steps_per_us = [] {
    double best = 0;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const auto end = walk({.number = static_cast<std::uint64_t>(i), .steps = probe});
      asm volatile("" : : "r"(end)); // else there would be nothing to compute
      const std::chrono::duration<double, std::micro> took
        = std::chrono::steady_clock::now() - begin;
      best = std::max(best, static_cast<double>(probe) / took.count());
    }
    return best;
  }();
  return static_cast<std::uint64_t>(steps_per_us * static_cast<double>(time.count()));
}

inline std::uint64_t chain(posse::member&, const job& j) {
  return walk(j);
}
inline constexpr posse::pure<chain> pure_chain{"chain"};

} // namespace basal::bench
