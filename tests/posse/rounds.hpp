#pragma once

#include <cstdint>
#include <cstdlib>

/// How many times as much a stress test is to do: 1 unless the environment asks
/// for a long run by BASAL_STRESS_ROUNDS. Each round has seeds of its own.
inline std::uint64_t rounds() {
  const char* text = std::getenv("BASAL_STRESS_ROUNDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}
