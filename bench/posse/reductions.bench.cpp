// Programs whose loops are reductions:
//
// page_rank   Shares of a graph's nodes, from those that point to them: 40,000 nodes, the number of
//             whose predecessors follows a power law. Each round is one reduction that writes the
//             new shares and sums up by how much they changed.
// alignment   Local alignment of two sequences of 2,400 letters (Smith, Waterman, 1981), in tiles
//             of 48 by 48, 4 us each: 99 reductions, one for each diagonal, of 1 to 50 tiles.
// statistics  Sum, sum of squares, least and greatest of 200,000 numbers, in one struct.
// nearest     The one of 100,000 points that is nearest to a given one, as the least std::pair of
//             distance and number.

#include "bench/posse/loop.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace basal;

std::uint64_t next_of(std::uint64_t& random) {
  random = random * 6364136223846793005u + 1442695040888963407u;
  return random >> 33;
}

// -- page_rank ----------------------------------------------------------------

constexpr std::size_t nodes = 40'000;
constexpr std::size_t rounds = 10;

struct graph {
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint32_t> from;
  std::vector<double> one_over_successors;
  std::vector<double> rank;
  std::vector<double> next;
  double expected = 0;

  void make() {
    std::uint64_t random = 1;
    std::vector<int> successors(nodes, 1);
    for (std::size_t node = 0; node < nodes; ++node) {
      const std::size_t count
        = std::min<std::size_t>(3000, 2 + 20'000 / (1 + next_of(random) % 8'000));
      for (std::size_t k = 0; k < count; ++k) {
        from.push_back(static_cast<std::uint32_t>(next_of(random) % nodes));
        ++successors[from.back()];
      }
      first.push_back(static_cast<std::uint32_t>(from.size()));
    }
    for (const int count : successors)
      one_over_successors.push_back(1. / count);
    next.resize(nodes);
  }

  void reset() {
    rank.assign(nodes, 1. / nodes);
  }
};

// @returns the sum of the ranks, which everybody adds up in the same order, or -1 if the last
//          reduction's result is wrong
template <class Loop>
double page_rank(graph& g, Loop loop) {
  double change = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    change = loop.reduce(
      nodes, 0.,
      [&g, from = g.from.data(), weight = g.one_over_successors.data(), rank = g.rank.data(),
       next = g.next.data()](std::size_t node) {
        double sum = 0;
        for (auto k = g.first[node]; k < g.first[node + 1]; ++k)
          sum += rank[from[k]] * weight[from[k]];
        next[node] = 0.15 / nodes + 0.85 * sum;
        return std::abs(next[node] - rank[node]);
      },
      std::plus<>{});
    std::swap(g.rank, g.next);
  }
  double total = 0;
  double moved = 0; // as the loop should have found it, up to rounding
  for (std::size_t node = 0; node < nodes; ++node) {
    total += g.rank[node] * static_cast<double>(node % 17);
    moved += std::abs(g.rank[node] - g.next[node]);
  }
  return std::abs(moved - change) <= 1e-9 * moved ? total : -1;
}

const bench::suite page_rank_suite{[](bench::plan& plan) {
  auto g = std::make_shared<graph>();
  bench::program<bool> program{plan, "page_rank", std::to_string(nodes), true,
                               bench::counted_in::loops};
  program.setup([=] {
    if (!g->from.empty())
      return;
    g->make();
    g->reset();
    g->expected = page_rank(*g, bench::serial_loop{});
  });
  program.prepare([=] { g->reset(); });
  bench::add_loop_cases(program, bench::elements::uneven,
                        [=](auto loop) { return page_rank(*g, loop) == g->expected; });
}};

// -- alignment ----------------------------------------------------------------

constexpr std::size_t letters = 2400;
constexpr std::size_t tile = 48;
constexpr std::size_t tiles = letters / tile; ///< along an edge

struct sequences {
  std::string a;
  std::string b;
  std::vector<int> score; ///< (letters + 1)^2
  int expected = 0;

  void make() {
    std::uint64_t random = 7;
    for (std::size_t i = 0; i < letters; ++i) {
      a += "ACGT"[next_of(random) % 4];
      b += next_of(random) % 3 == 0 ? a.back() : "ACGT"[next_of(random) % 4];
    }
  }

  void reset() {
    score.assign((letters + 1) * (letters + 1), 0);
  }
};

// @returns the best score in the tile of these numbers
int align_tile(const char* a, const char* b, int* score, std::size_t row, std::size_t column) {
  constexpr std::size_t width = letters + 1;
  int best = 0;
  for (std::size_t i = row * tile + 1; i <= (row + 1) * tile; ++i)
    for (std::size_t j = column * tile + 1; j <= (column + 1) * tile; ++j) {
      int* at = score + i * width + j;
      const int along = *(at - width - 1) + (a[i - 1] == b[j - 1] ? 3 : -2);
      *at = std::max({0, along, *(at - width) - 4, *(at - 1) - 4});
      best = std::max(best, *at);
    }
  return best;
}

template <class Loop>
int align(sequences& s, Loop loop) {
  int best = 0;
  for (std::size_t diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
    const auto top = diagonal < tiles ? 0 : diagonal - tiles + 1;
    const auto bottom = std::min(diagonal, tiles - 1);
    const auto here = loop.reduce(
      bottom - top + 1, 0,
      [=, a = s.a.data(), b = s.b.data(), score = s.score.data()](std::size_t i) {
        return align_tile(a, b, score, top + i, diagonal - top - i);
      },
      [](int x, int y) { return std::max(x, y); });
    best = std::max(best, here);
  }
  return best;
}

const bench::suite alignment_suite{[](bench::plan& plan) {
  auto s = std::make_shared<sequences>();
  bench::program<bool> program{plan, "alignment", std::to_string(letters), true,
                               bench::counted_in::loops};
  program.setup([=] {
    if (!s->a.empty())
      return;
    s->make();
    s->reset();
    s->expected = align(*s, bench::serial_loop{});
  });
  program.prepare([=] { s->reset(); });
  bench::add_loop_cases(program, bench::elements::alike,
                        [=](auto loop) { return align(*s, loop) == s->expected; });
}};

// -- statistics ---------------------------------------------------------------

constexpr std::size_t samples = 200'000;
constexpr int passes = 10;

struct statistics {
  double sum = 0;
  double squares = 0;
  double least = 1e300;
  double greatest = -1e300;

  bool operator==(const statistics&) const = default;

  static statistics of(double x) {
    return {x, x * x, x, x};
  }

  friend statistics operator+(const statistics& a, const statistics& b) {
    return {a.sum + b.sum, a.squares + b.squares, std::min(a.least, b.least),
            std::max(a.greatest, b.greatest)};
  }
};

template <class Loop>
bool summarise(const std::vector<double>& x, const statistics& expected, Loop loop) {
  bool is_right = true;
  for (int pass = 0; pass < passes; ++pass) {
    const auto found = loop.reduce(
      x.size(), statistics{}, [from = x.data()](std::size_t i) { return statistics::of(from[i]); },
      std::plus<>{});
    is_right = is_right && found == expected;
    asm volatile("" ::: "memory");
  }
  return is_right;
}

const bench::suite statistics_suite{[](bench::plan& plan) {
  auto x = std::make_shared<std::vector<double>>();
  auto expected = std::make_shared<statistics>();
  bench::program<bool> program{plan, "statistics", std::to_string(samples), true,
                               bench::counted_in::loops};
  program.setup([=] {
    std::uint64_t random = 3;
    x->clear();
    *expected = {};
    for (std::size_t i = 0; i < samples; ++i) {
      x->push_back(static_cast<double>(next_of(random) % 1000)); // so that sums are exact
      *expected = *expected + statistics::of(x->back());
    }
  });
  bench::add_loop_cases(program, bench::elements::alike,
                        [=](auto loop) { return summarise(*x, *expected, loop); });
}};

// -- nearest ------------------------------------------------------------------

constexpr std::size_t places = 100'000;

struct point {
  double x;
  double y;

  double distance_from(const point& other) const {
    return std::sqrt((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y));
  }
};

using nearest_place = std::pair<double, std::size_t>;

// @returns for each pass the distance and the number
template <class Loop>
std::vector<nearest_place> nearest(const std::vector<point>& points, Loop loop) {
  std::vector<nearest_place> result;
  for (int pass = 0; pass < passes; ++pass) {
    const point here{pass / 10., 0.4};
    result.push_back(loop.reduce(
      points.size(), nearest_place{1e300, 0},
      [=, all = points.data()](std::size_t i) {
        return nearest_place{all[i].distance_from(here), i};
      },
      [](const nearest_place& a, const nearest_place& b) { return std::min(a, b); }));
  }
  return result;
}

const bench::suite nearest_suite{[](bench::plan& plan) {
  auto points = std::make_shared<std::vector<point>>();
  auto expected = std::make_shared<std::vector<nearest_place>>();
  bench::program<bool> program{plan, "nearest", std::to_string(places), true,
                               bench::counted_in::loops};
  program.setup([=] {
    std::uint64_t random = 5;
    points->clear();
    const auto coordinate = [&] { return static_cast<double>(next_of(random) % 1'000'003) / 1e6; };
    for (std::size_t i = 0; i < places; ++i) {
      const double x = coordinate();
      points->push_back({x, coordinate()});
    }
    *expected = nearest(*points, bench::serial_loop{});
  });
  bench::add_loop_cases(program, bench::elements::alike,
                        [=](auto loop) { return nearest(*points, loop) == *expected; });
}};

} // namespace
