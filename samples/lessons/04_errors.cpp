// Errors, deadlines and limits. A computation ends with the exception that comes first in
// sequential order, whatever ran where.
#include <basal/posse/posse.hpp>

#include <chrono>
#include <iostream>
#include <memory_resource>
#include <stdexcept>
#include <vector>

namespace posse = basal::posse;
using namespace std::chrono_literals;
using posse::member;

/// Leaves of a tree; the one numbered 5 is broken.
int leaves(member& m, int from, int to) {
  if (to - from == 1)
    return from == 5 ? throw std::runtime_error("leaf 5 is broken") : 1;
  const int middle = from + (to - from) / 2;
  auto [a, b] = m.fork_merge([=](member& left) { return leaves(left, from, middle); },
                             [=](member& right) { return leaves(right, middle, to); });
  return a + b;
}
inline constexpr posse::pure<leaves> pure_leaves{"leaves"};

int for_ever(member& m) {
  for (;;)
    m.poll(); // where it may be interrupted, as at a fork
}
inline constexpr posse::pure<for_ever> pure_for_ever{"for_ever"};

std::size_t hungry(member& m) {
  std::pmr::vector<char> bytes(10'000'000, &m.memory());
  return bytes.size();
}
inline constexpr posse::pure<hungry> pure_hungry{"hungry"};

int main() {
  posse::runtime runtime;
  try {
    pure_leaves(runtime, 0, 64);
  } catch (const std::runtime_error& e) {
    std::cout << "error: " << e.what() << '\n';
  }
  try {
    pure_for_ever.with({.deadline = std::chrono::steady_clock::now() + 20ms})(runtime);
  } catch (const posse::cancelled&) {
    std::cout << "cancelled at its deadline\n";
  }
  try {
    pure_hungry.with({.memory_limit = 1'000'000})(runtime);
  } catch (const posse::memory_limit_exceeded&) {
    std::cout << "stopped at its memory limit\n";
  }
}
