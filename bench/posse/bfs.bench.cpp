// Breadth-first search in a random graph of 2^16 vertices with eight neighbours
// each, level by level and bottom-up (Beamer, Asanovic, Patterson, SC 2012): a
// vertex that is not reached looks for a neighbour that is. So each vertex is
// written by one branch alone, and a level is a loop whose elements end early.

#include "bench/posse/loop.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace basal;

constexpr std::size_t vertices = 1 << 16;
constexpr std::size_t degree = 8;
constexpr int unreached = -1;

struct graph {
  std::vector<std::uint32_t> neighbours; ///< degree of each, in a row
  std::vector<int> level;
  long expected = 0;

  void make() {
    std::uint64_t random = 1;
    for (std::size_t i = 0; i < vertices * degree; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      neighbours.push_back(static_cast<std::uint32_t>(random >> 48));
    }
    level.resize(vertices);
  }
};

// Relaxed: a neighbour that is reached in this level is not of the level before,
// whichever of its two values is seen.
int level_of(int& level) {
  return std::atomic_ref{level}.load(std::memory_order_relaxed);
}

// @returns the sum of the levels of all vertices
template <class Loop>
long search(graph& g, Loop loop) {
  std::fill(g.level.begin(), g.level.end(), unreached);
  g.level[0] = 0;
  std::atomic<bool> any{true};
  for (int now = 0; any.load(std::memory_order_relaxed); ++now) {
    any.store(false, std::memory_order_relaxed);
    loop(vertices,
         [=, &any, level = g.level.data(), neighbours = g.neighbours.data()](std::size_t v) {
           if (level[v] != unreached)
             return;
           for (std::size_t k = 0; k < degree; ++k)
             if (level_of(level[neighbours[v * degree + k]]) == now) {
               std::atomic_ref{level[v]}.store(now + 1, std::memory_order_relaxed);
               if (!any.load(std::memory_order_relaxed))
                 any.store(true, std::memory_order_relaxed);
               return;
             }
         });
  }
  long sum = 0;
  for (int level : g.level)
    sum += level;
  return sum;
}

const bench::suite bfs_suite{[](bench::plan& plan) {
  auto g = std::make_shared<graph>();
  bench::program<bool> program{plan, "bfs", std::to_string(vertices), true};
  program.setup([=] {
    if (!g->level.empty())
      return;
    g->make();
    g->expected = search(*g, bench::serial_loop{});
  });
  bench::add_loop_cases(program, bench::elements::uneven,
                        [=](auto loop) { return search(*g, loop) == g->expected; });
}};

} // namespace
