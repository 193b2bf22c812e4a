#include <basal/priority/ordering.hpp>
#include <basal/priority/runtime_tracker.hpp>

#include "support/catch.hpp"
#include "virtual_server.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace basal::priority;
using virtual_time::job;

namespace {

constexpr auto infinite = std::numeric_limits<double>::infinity();
constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Normal tasks of 30 ms arrive at 1.5 times what one server can do, for `seconds`; at once one
/// task of 10 ms at each of two levels below. `key` makes the keys.
std::vector<job> overload(double seconds, const std::function<double(level, double, double)>& key) {
  constexpr double normal_s = 0.030;
  constexpr double low_s = 0.010;
  std::vector<job> jobs;
  for (auto at : {level::background_compile, level::batch})
    jobs.push_back({0, low_s, key(at, low_s, 0)});
  for (double t = 0; t < seconds; t += normal_s / 1.5)
    jobs.push_back({t, normal_s, key(level::normal, normal_s, t)});
  return jobs;
}

} // namespace

TEST_CASE("the static key orders as the live score does, at any time") {
  const weights w{.runtime = 1.7, .decay = 0.3};
  std::mt19937_64 random(1);
  std::uniform_real_distribution seconds(0.0, 100.0);
  const level levels[]
    = {level::interactive, level::normal, level::background_compile, level::low, level::batch};
  int compared = 0;
  for (int set = 0; set < 2000; ++set) {
    struct task {
      level at;
      double estimate_s, enqueued_s;
    };
    std::vector<task> tasks;
    for (int i = 0; i < 20; ++i)
      tasks.push_back({levels[random() % 5], seconds(random) / 50, seconds(random)});
    const double now = 100 + seconds(random);
    auto live = [&](const task& t) {
      return static_cast<double>(t.at) + w.runtime * t.estimate_s - w.decay * (now - t.enqueued_s);
    };
    for (std::size_t i = 1; i < tasks.size(); ++i) {
      const auto &a = tasks[i - 1], &b = tasks[i];
      if (std::abs(live(a) - live(b)) < 1e-9)
        continue; // rounding decides
      ++compared;
      REQUIRE(
        (live(a) < live(b))
        == (w.key(a.at, a.estimate_s, a.enqueued_s) < w.key(b.at, b.estimate_s, b.enqueued_s)));
    }
  }
  CHECK(compared > 37'000);
}

TEST_CASE("what waits gets its turn however much comes in above it") {
  const weights w;
  auto jobs = overload(700, [&](level at, double estimate_s, double enqueued_s) {
    return w.key(at, estimate_s, enqueued_s);
  });
  virtual_time::serve(jobs, 1e9);
  // It is behind those normal tasks that arrive within the first (levels apart - difference of the
  // estimates) / decay seconds, and the server takes 1.5 s for each second of them.
  CHECK(jobs[0].waited_s == Approx(1.5 * (5 - 0.020) / 0.1).margin(0.1));
  CHECK(jobs[0].waited_s == Approx(74.7).margin(0.1));
  CHECK(jobs[1].waited_s == Approx(674.7).margin(0.1));
}

TEST_CASE("a score that is frozen when nobody has waited yet starves the lower levels") {
  // The negative control: age is what a push takes, some 100 ns.
  const weights w;
  auto jobs = overload(
    2000, [&](level at, double estimate_s, double) { return w.key(at, estimate_s, -100e-9); });
  virtual_time::serve(jobs, 2000);
  CHECK(jobs[0].waited_s < 0);
  CHECK(jobs[1].waited_s < 0);
}

TEST_CASE("with known runtimes a burst waits a quarter as long as first come, first served") {
  const weights w;
  std::vector<job> shortest_first;
  for (int i = 0; i < 1000; ++i) {
    const double runs_s = i % 10 == 3 ? 5e-3 : 0.1e-3;
    // All of them arrive together, so that only the estimates differ.
    shortest_first.push_back({0, runs_s, w.key(level::normal, runs_s, 0)});
  }
  auto first_come = shortest_first;
  for (auto& j : first_come)
    j.key = 0;
  auto mean_wait = [](std::vector<job>& jobs) {
    virtual_time::serve(jobs, 1e9);
    double sum = 0;
    for (const auto& j : jobs)
      sum += j.waited_s;
    return sum / static_cast<double>(jobs.size());
  };
  const double ratio = mean_wait(shortest_first) / mean_wait(first_come);
  INFO("mean wait, shortest first over first come: " << ratio);
  CHECK(ratio == Approx(0.252).epsilon(0.1));
}

TEST_CASE("without decay the levels are strict") {
  const weights w{.runtime = 0, .decay = 0};
  CHECK(w.key(level::interactive, 100, 1e6) < w.key(level::normal, 0, 0));
  CHECK(w.key(level::normal, 100, 1e6) == w.key(level::normal, 0, 0));
}

TEST_CASE("weights that make no sense are refused by name") {
  CHECK_NOTHROW(weights{}.validate());
  CHECK_NOTHROW(weights{.runtime = 0, .decay = 0}.validate());
  CHECK_NOTHROW(weights{.runtime = weights::most, .decay = weights::most}.validate());
  CHECK(std::isfinite(weights{.runtime = weights::most, .decay = weights::most}.key(
    level::batch, runtime_tracker::longest_s, 1e9)));
  for (const double bad : {-1.0, -1e-300, 1e13, 1e308, not_a_number, infinite, -infinite}) {
    CHECK_THROWS_WITH((weights{.runtime = bad, .decay = 0.1}.validate()),
                      ContainsSubstring("weights.runtime"));
    CHECK_THROWS_WITH((weights{.runtime = 1, .decay = bad}.validate()),
                      ContainsSubstring("weights.decay"));
  }
}
