// Loops whose elements write what other elements write, as ordinary programs have them: each member
// takes many times as long for an element when there are several.
//
// frontier  Breadth-first search, top-down, in a grid of 150 by 150 vertices with 200 shortcuts: a
//           vertex that is reached goes to the end of the next level's list. Levels of up to 4 us.
// tally     How often each of eight kinds occurs among 20,000 elements, in eight atomic counters.

#include "bench/posse/loop.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace basal;

std::uint64_t next_of(std::uint64_t& random) {
  random = random * 6364136223846793005u + 1442695040888963407u;
  return random >> 33;
}

// -- frontier -----------------------------------------------------------------

constexpr std::size_t side = 150;
constexpr std::size_t vertices = side * side;
constexpr std::uint32_t unreached = ~std::uint32_t{0};

struct grid {
  std::vector<std::vector<std::uint32_t>> neighbours{vertices};
  std::vector<std::uint32_t> level;
  std::vector<std::uint32_t> now;
  std::vector<std::uint32_t> next;
  std::uint64_t expected = 0;

  void make() {
    const auto connect = [this](std::size_t a, std::size_t b) {
      neighbours[a].push_back(static_cast<std::uint32_t>(b));
      neighbours[b].push_back(static_cast<std::uint32_t>(a));
    };
    for (std::size_t v = 0; v < vertices; ++v) {
      if (v % side + 1 < side)
        connect(v, v + 1);
      if (v + side < vertices)
        connect(v, v + side);
    }
    std::uint64_t random = 1;
    for (int shortcut = 0; shortcut < 200; ++shortcut) {
      const auto from = next_of(random) % vertices;
      connect(from, next_of(random) % vertices);
    }
  }
};

// @returns the sum of all vertices' levels
template <class Loop>
std::uint64_t search(grid& g, Loop loop) {
  g.level.assign(vertices, unreached);
  g.now.resize(vertices);
  g.next.resize(vertices);
  g.level[0] = g.now[0] = 0;
  std::uint64_t sum = 0;
  std::size_t count = 1;
  for (std::uint32_t depth = 1; count != 0; ++depth) {
    std::atomic<std::size_t> found{0};
    loop(count, [&, depth, level = g.level.data(), now = g.now.data(),
                 next = g.next.data()](std::size_t i) {
      for (const auto to : g.neighbours[now[i]]) {
        const std::atomic_ref reached{level[to]};
        auto none = unreached;
        if (reached.load(std::memory_order_relaxed) == unreached
            && reached.compare_exchange_strong(none, depth, std::memory_order_relaxed))
          next[found.fetch_add(1, std::memory_order_relaxed)] = to;
      }
    });
    count = found;
    sum += depth * count;
    std::swap(g.now, g.next);
  }
  return sum;
}

const bench::suite frontier_suite{[](bench::plan& plan) {
  auto g = std::make_shared<grid>();
  bench::program<bool> program{plan, "frontier", std::to_string(vertices), true};
  program.setup([=] {
    if (g->expected != 0)
      return;
    g->make();
    g->expected = search(*g, bench::serial_loop{});
  });
  bench::add_loop_cases(program, bench::elements::uneven,
                        [=](auto loop) { return search(*g, loop) == g->expected; });
}};

// -- tally --------------------------------------------------------------------

const bench::suite tally_suite{[](bench::plan& plan) {
  constexpr std::size_t elements = 20'000;
  using counts = std::array<std::uint64_t, 8>;
  auto kinds = std::make_shared<std::vector<std::uint8_t>>();
  counts expected{};
  std::uint64_t random = 1;
  for (std::size_t i = 0; i < elements; ++i) {
    kinds->push_back(static_cast<std::uint8_t>(next_of(random) % expected.size()));
    ++expected[kinds->back()];
  }
  bench::program<counts> program{plan, "tally", std::to_string(elements), expected};
  bench::add_loop_cases(program, bench::elements::alike, [=](auto loop) {
    std::array<std::atomic<std::uint64_t>, 8> tally{};
    loop(elements, [&, kind = kinds->data()](std::size_t i) {
      tally[kind[i]].fetch_add(1, std::memory_order_relaxed);
    });
    counts result{};
    std::copy(tally.begin(), tally.end(), result.begin());
    return result;
  });
}};

} // namespace
