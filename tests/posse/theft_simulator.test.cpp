// The decision about thefts, simulated: executors with fork trees, in steps of a
// quantum, driven by the same pure function as the runtime, without threads. All
// of a tree's work gets done, and no faster rule of thumb is broken on the way.

#include <basal/posse/theft.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

using namespace basal::posse;

namespace {

/// The points at which branches fork: random ones if this is set, else the middles.
std::mt19937* splits = nullptr;

/// A branch of `work` quanta: it forks in two at once, runs the left one and leaves the right ones
/// on its stack, oldest first.
struct branch {
  std::uint32_t work;
  std::uint32_t age = 0; ///< beginnings and ends of quanta it has seen
};

struct member {
  std::uint32_t now = 0; ///< quanta of its present leaf that are left
  std::deque<branch> waiting;
  bool suspended = false;
  int pending = 0;
  int victim = -1; ///< the member whose latch it counts down

  void begin(std::uint32_t work) {
    while (work > 1) {
      const auto right
        = splits != nullptr ? 1 + static_cast<std::uint32_t>((*splits)() % (work - 1)) : work / 2;
      waiting.push_back({right});
      work -= right;
    }
    now = work;
  }

  /// The first look comes at the first fork, so sees the oldest branch alone.
  void look_first() {
    if (!waiting.empty())
      ++waiting.front().age;
  }

  bool done() const {
    return now == 0 && waiting.empty();
  }
};

struct world {
  victim_policy policy;
  std::size_t executors;
  std::deque<member> members;           ///< all there ever were
  std::vector<std::vector<int>> stacks; ///< of each executor: its members, oldest first
  std::uint32_t work_done = 0;
  std::uint32_t steps = 0;
  std::uint32_t thefts = 0;

  /// Of each executor: the share of its time spent running, with a window of 16 quanta.
  std::vector<double> loads;
  double idle_below = 2; ///< an idle executor whose load is not below this gets nothing

  world(victim_policy p, std::size_t e) : policy(p), executors(e), stacks(e), loads(e) {
  }

  int running(std::size_t e) const {
    for (auto i = stacks[e].rbegin(); i != stacks[e].rend(); ++i)
      if (!members[static_cast<std::size_t>(*i)].suspended)
        return *i;
    return -1;
  }

  bool idle(std::size_t e) const {
    return running(e) < 0;
  }

  int start(std::size_t e, std::uint32_t work, int victim) {
    members.emplace_back();
    members.back().begin(work);
    members.back().look_first();
    members.back().victim = victim;
    auto number = static_cast<int>(members.size()) - 1;
    stacks[e].push_back(number);
    return number;
  }

  /// Takes the oldest branch, which nothing more basal than it may exist beside.
  branch take(member& from) {
    auto b = from.waiting.front();
    REQUIRE(b.age >= 2);
    for (auto& other : from.waiting)
      REQUIRE(other.age <= b.age);
    from.waiting.pop_front();
    ++thefts;
    return b;
  }

  void merge(int number) {
    auto victim = members[static_cast<std::size_t>(number)].victim;
    if (victim < 0)
      return;
    auto& v = members[static_cast<std::size_t>(victim)];
    if (v.suspended && --v.pending == 0)
      v.suspended = false;
  }

  void step(std::size_t e) {
    auto number = running(e);
    if (number < 0)
      return;
    {
      auto& m = members[static_cast<std::size_t>(number)];
      if (m.now == 0 && !m.waiting.empty()) { // its own youngest is next
        auto b = m.waiting.back();
        m.waiting.pop_back();
        m.begin(b.work);
      }
      if (m.now != 0) {
        --m.now;
        ++work_done;
      }
      if (m.done()) {
        merge(number);
        std::erase(stacks[e], number);
        return;
      }
    }
    quantum_end(e, number);
  }

  void quantum_end(std::size_t e, int number) {
    for (int i : stacks[e])
      for (auto& b : members[static_cast<std::size_t>(i)].waiting)
        ++b.age;
    std::size_t target = executors;
    for (std::size_t other = 0; other < executors; ++other)
      if (other != e && idle(other) && loads[other] < idle_below)
        target = other;
    int from = -1;
    theft_view view;
    view.rule = hysteresis::quantum;
    view.policy = policy;
    view.compute_executor_idle = target != executors;
    for (int i : stacks[e]) {
      auto& m = members[static_cast<std::size_t>(i)];
      if (i != number && !m.suspended)
        continue;
      auto old = std::count_if(m.waiting.begin(), m.waiting.end(),
                               [](const branch& b) { return b.age >= 2; });
      if (old == 0)
        continue;
      from = i;
      view.eligible = static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(old, 2));
      view.victim_is_suspended = m.suspended;
      break;
    }
    const auto verdict = decide_theft(view);
    if (verdict == theft_verdict::delegate_oldest) {
      auto& m = members[static_cast<std::size_t>(from)];
      auto b = take(m);
      m.pending += m.suspended;
      start(target, b.work, from);
    } else if (verdict == theft_verdict::delegate_two) {
      auto& m = members[static_cast<std::size_t>(from)];
      auto first = take(m);
      auto second = take(m);
      m.suspended = true;
      m.pending = 2;
      start(target, first.work, from);
      start(e, second.work, from);
    }
  }

  void run(std::uint32_t work) {
    start(0, work, -1);
    while (work_done < work) {
      REQUIRE(++steps <= work); // never slower than one executor
      for (std::size_t e = 0; e < executors; ++e) {
        const auto kept = std::exp(-1.0 / 16);
        loads[e] = loads[e] * kept + (idle(e) ? 0 : 1 - kept);
        step(e);
      }
    }
  }
};

} // namespace

TEST_CASE("simulated: all work is done, by any number of executors under both policies") {
  for (auto policy : {victim_policy::run_victim, victim_policy::suspend_victim})
    for (std::size_t executors = 1; executors <= 8; ++executors)
      for (std::uint32_t work : {1u, 2u, 3u, 10u, 100u, 1000u, 1023u}) {
        world w{policy, executors};
        w.run(work);
        CHECK(w.work_done == work);
        if (executors == 1 || work <= 1)
          CHECK(w.thefts == 0);
      }
}

TEST_CASE("simulated: a long computation uses its executors") {
  for (auto policy : {victim_policy::run_victim, victim_policy::suspend_victim})
    for (std::size_t executors : {2u, 4u, 8u}) {
      world w{policy, executors};
      w.run(10'000);
      // The hysteresis costs a few quanta a theft, and few thefts are needed.
      CHECK(w.steps < 10'000 / executors * 12 / 10);
      CHECK(w.thefts < 40 * executors);
    }
}

// An executor is known to be idle, not guessed to be so. To ask that its load be low as well would
// leave it without work for the first quanta after every piece that it has done.
TEST_CASE("simulated: an idle executor gets a part at once, whatever it did before") {
  std::mt19937 random;
  splits = &random;
  for (auto policy : {victim_policy::run_victim, victim_policy::suspend_victim})
    for (std::size_t executors : {2u, 4u, 8u}) {
      auto quanta = [&](double idle_below) {
        std::uint32_t result = 0;
        for (std::uint32_t seed = 0; seed < 100; ++seed) {
          random.seed(seed);
          world w{policy, executors};
          w.idle_below = idle_below;
          w.run(1000);
          result += w.steps;
        }
        return result;
      };
      CAPTURE(executors);
      CHECK(quanta(2) < quanta(0.5));
    }
  splits = nullptr;
}
