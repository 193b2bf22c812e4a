#include <basal/mab/chooser.hpp>
#include <basal/mab/family_table.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

using namespace basal::mab;
using namespace basal::mab::simulation;

TEST_CASE("actors of one family learn on four threads while a fifth watches") {
  constexpr int threads = 4;
  family_table table{threads};
  constexpr int actors = 300;
  constexpr int messages = 40;
  std::atomic<bool> done{false};
  bool sane = true;
  std::thread watcher{[&] {
    while (!done.load(std::memory_order_relaxed))
      for (const auto& s : table.snapshot()) {
        if (s.learned)
          // Function times lie between 10 and 1000 us, overheads around 12.
          sane = sane && s.learned->log_function_us > std::log(8.0)
                 && s.learned->log_function_us < std::log(1100.0);
        sane = sane && s.totals[event::finished] <= threads * actors * messages;
      }
  }};
  std::vector<std::thread> workers;
  for (int w = 0; w < threads; ++w)
    workers.emplace_back([&table, w] {
      for (int a = 0; a < actors; ++a) {
        auto& shared = table.get(function_key{static_cast<std::uint64_t>(a % 3)}, "f", {});
        auto& others = shared.newcomers_on(static_cast<std::size_t>(w));
        int first = 0;
        if (others.begin()) { // a run without its chooser
          others.ended(std::chrono::microseconds{9}, shared);
          first = 1;
        }
        chooser c{shared};
        splitmix64 random{static_cast<std::uint64_t>(w * actors + a)};
        for (int m = first; m < messages; ++m) {
          auto d = c.choose(load_of(1), random);
          const double us = m % 2 == 0 ? 10 : 1000;
          const double extra = d.choice() == arm::offload ? 12 : 0;
          d.finish({.cost = microseconds{us + extra}, .function_time = microseconds{us}});
        }
        others.allow({.runs = 3, .limit = microseconds{100}}, 1, shared);
      }
    });
  for (auto& w : workers)
    w.join();
  done = true;
  watcher.join();
  CHECK(sane);
  stats totals;
  for (const auto& s : table.snapshot())
    totals += s.totals;
  CHECK(totals[event::finished] == threads * actors * messages);
  CHECK(totals.decisions() == threads * actors * messages);
  CHECK(totals[event::abandoned] == 0);
}
