// Reasons for warnings, and when a warning comes and goes. samples.misbehave.* raise each of them
// in a real program.

#include "warning_watch.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/executors/recorder.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include <unistd.h>

#include "support/catch.hpp"

using namespace basal::actors;
using namespace std::chrono_literals;
using basal::posse::theft_verdict;

namespace {

using change = std::function<void(evidence& before, evidence& now)>;

/// A second of a program with two executors of each kind that are half busy.
std::vector<finding> judged(const change& what) {
  evidence before;
  before.quantum = 200us;
  before.expected_offload_ns = 1000;
  before.stats.message_executors.resize(2, {.tasks_run = 10, .load_permille = 400});
  before.stats.compute_executors = before.stats.message_executors;
  before.message_threads.resize(2);
  before.compute_threads.resize(2);
  before.stats.backlogs.push_back({"sink", 2000, 2000, 1});
  before.stats.choosers.emplace_back().name = "shop/int";
  auto now = before;
  now.taken += 1s;
  for (auto* pool : {&now.stats.message_executors, &now.stats.compute_executors})
    for (auto& e : *pool)
      e.tasks_run += 1000;
  what(before, now);
  return judge(before, now);
}

bool finds(const char* kind, const char* subject, const char* words, const change& what) {
  const auto found = judged(what);
  INFO((found.empty() ? "nothing" : describe(found[0].kind).name + (": " + found[0].cause)));
  return found.size() == 1 && std::string{describe(found[0].kind).name} == kind
         && found[0].subject == subject && found[0].cause.find(words) != std::string::npos;
}

bool finds_nothing(const change& what) {
  return judged(what).empty();
}

/// The executor has run the same piece of work all the time.
void stand_still(evidence& before, evidence& now, bool message, std::size_t i) {
  auto& e = (message ? now.stats.message_executors : now.stats.compute_executors)[i];
  e = (message ? before.stats.message_executors : before.stats.compute_executors)[i];
  e.load_permille = 1000;
}

} // namespace

TEST_CASE("a program that is well has no warnings") {
  CHECK(finds_nothing([](evidence&, evidence&) {}));
}

TEST_CASE("a type of actor that overruns for a fifth of an executor's time is named") {
  const auto overrun = [](std::uint64_t quanta) {
    return [=](evidence&, evidence& now) {
      now.stats.overruns.push_back({"glutton", 7, quanta, 31'000, {quanta}});
    };
  };
  CHECK(finds("long_handler", "glutton", "have taken 30 %", overrun(1500)));
  CHECK(finds_nothing(overrun(900)));
}

TEST_CASE("an executor that had no CPU, or stood still for a collection, has not overrun") {
  CHECK(finds_nothing([](evidence&, evidence& now) {
    now.stats.overruns.push_back({"any", 7, 3700, 31'000, {0, 3700}});
    now.message_threads[1].waited_ns = 700'000'000;
  }));
  CHECK(finds_nothing([](evidence&, evidence& now) {
    now.stats.overruns.push_back({"any", 7, 1200, 31'000, {600, 600}});
    now.stats.heap_pauses.sum_ns = 40'000'000; // of each executor
  }));
  CHECK(finds_nothing([](evidence&, evidence& now) {
    now.stats.overruns.push_back({"any", 7, 2000, 31'000, {2000}});
    now.stolen_ns = 300'000'000; // from each CPU
  }));
}

TEST_CASE("the waits of other executors do not excuse an overrun") {
  CHECK(finds("long_handler", "glutton", "have taken 30 %", [](evidence&, evidence& now) {
    now.stats.overruns.push_back({"glutton", 7, 1500, 31'000, {1500}});
    now.stats.overruns.push_back({"preempted", 7, 3500, 31'000, {0, 3500}});
    now.message_threads[1].waited_ns = 700'000'000;
  }));
}

TEST_CASE(
  "on a busy machine, overruns are judged by the time for which their executors had a CPU") {
  const auto overrun = [](std::uint64_t quanta) {
    return [=](evidence&, evidence& now) {
      now.stats.overruns.push_back({"glutton", 7, quanta, 31'000, {0, quanta}});
      now.message_threads[1].waited_ns = 600'000'000;
    };
  };
  CHECK(finds("long_handler", "glutton", "have taken 40 %", overrun(3800))); // 160 ms of 400
  CHECK(finds_nothing(overrun(3300)));                                       // 60 ms of 400
}

TEST_CASE("an executor that stays in one piece of work computes, or waits in the kernel") {
  CHECK(finds("long_handler", "basal.msg1", "computes in spinner", [](auto& before, auto& now) {
    stand_still(before, now, true, 1);
    now.message_threads[1].work = "spinner";
  }));
  CHECK(
    finds("blocked_executor", "basal.msg0", "(futex_wait) in reader", [](auto& before, auto& now) {
      stand_still(before, now, true, 0);
      now.message_threads[0] = {0, "futex_wait", "reader"};
    }));
  CHECK(finds("blocked_executor", "basal.cpu0", "one piece of work", [](auto& before, auto& now) {
    stand_still(before, now, false, 0);
    now.compute_threads[0].kernel_function = "pipe_read";
  }));
  // Compute executors are there to compute, and who sleeps has nothing to do.
  CHECK(finds_nothing([](auto& before, auto& now) { stand_still(before, now, false, 0); }));
  CHECK(finds_nothing([](auto& before, auto& now) {
    now.stats.message_executors[0] = before.stats.message_executors[0];
    now.message_threads[0].kernel_function = "futex_wait";
  }));
}

TEST_CASE("what is ready to run waits long where no executor is idle") {
  const auto crowd = [](std::uint64_t load) {
    return [=](evidence&, evidence& now) {
      for (auto& e : now.stats.message_executors) {
        e.waiting_now = 50;
        e.load_permille = load;
      }
    };
  };
  CHECK(finds("long_wait", "message", "50 ms", crowd(1000)));
  CHECK(finds_nothing(crowd(800)));
  const auto one_of_two = [&](std::size_t cpus) {
    return [=](evidence& before, evidence& now) {
      crowd(1000)(before, now);
      now.stats.message_executors[0].load_permille = 0;
      now.cpus = cpus;
    };
  };
  CHECK(finds("long_wait", "message", "50 ms", one_of_two(1))); // there is no CPU for the other one
  CHECK(finds_nothing(one_of_two(2)));
}

TEST_CASE("a mailbox grows only while its actor is seen to have more and more") {
  const auto grow = [](std::uint64_t messages, std::uint64_t seen) {
    return [=](evidence&, evidence& now) {
      now.stats.backlogs[0].messages = messages;
      now.stats.backlogs[0].seen = seen;
    };
  };
  CHECK(finds("growing_mailbox", "sink", "3000", grow(3000, 2)));
  CHECK(finds_nothing(grow(1900, 2)));
  CHECK(finds_nothing(grow(3000, 1)));
}

TEST_CASE("that nothing is stolen is told with the reason, if a theft would have paid") {
  const auto look = [](theft_verdict verdict) {
    return [=](evidence&, evidence& now) { now.stats.posse.verdicts[verdict] = 30'000; };
  };
  CHECK(finds("nothing_stolen", "cabal_full", "raise basal.cabal-limit",
              look(theft_verdict::cabal_full)));
  CHECK(finds_nothing(look(theft_verdict::not_worth_it)));
  CHECK(finds_nothing(look(theft_verdict::too_young)));
  CHECK(finds("nothing_stolen", "too_young", "set basal.steal-by to worth",
              [&](evidence& before, evidence& now) {
                look(theft_verdict::too_young)(before, now);
                now.steal_by = basal::posse::hysteresis::quantum;
              }));
  CHECK(finds_nothing(look(theft_verdict::nobody_idle)));
  CHECK(finds_nothing([&](evidence& before, evidence& now) {
    look(theft_verdict::cabal_full)(before, now);
    now.stats.posse.thefts = 1;
  }));
  CHECK(finds_nothing([&](evidence& before, evidence& now) {
    look(theft_verdict::cabal_full)(before, now);
    for (auto& e : now.stats.compute_executors)
      e.load_permille = 900;
  }));
}

TEST_CASE("looks for thieves are rare on a busy machine, and many meet nobody who is idle") {
  for (auto threads : {&evidence::message_threads, &evidence::compute_threads}) {
    const auto look_while = [=](std::uint64_t waited_ns, std::uint64_t refused) {
      return [=](evidence&, evidence& now) {
        now.stats.posse.verdicts[theft_verdict::nobody_idle] = 20'000;
        now.stats.posse.verdicts[theft_verdict::cabal_full] = refused;
        (now.*threads)[1].waited_ns = waited_ns;
      };
    };
    CHECK(finds_nothing(look_while(0, 6'000)));
    CHECK(finds("nothing_stolen", "cabal_full", "raise basal.cabal-limit", look_while(0, 9'000)));
    CHECK(finds("nothing_stolen", "cabal_full", "raise basal.cabal-limit",
                look_while(600'000'000, 6'000)));
    CHECK(finds_nothing(look_while(990'000'000, 1'500))); // what is left of a second says little
  }
}

TEST_CASE("limits that are reached, and time that is lost") {
  CHECK(finds("memory_limit", "", "3 computations",
              [](evidence&, evidence& now) { now.stats.posse.over_limit = 3; }));
  CHECK(finds("memory_limit", "", "2 computations have used more than 80 %",
              [](evidence&, evidence& now) { now.stats.posse.near_limit = 2; }));
  CHECK(finds("collection", "", "6 %",
              [](evidence&, evidence& now) { now.stats.heap_pauses.sum_ns = 60'000'000; }));
  CHECK(finds_nothing([](evidence&, evidence& now) { now.stats.heap_pauses.sum_ns = 40'000'000; }));
  CHECK(finds("lost_records", "", "4 of them",
              [](evidence&, evidence& now) { now.stats.lost_records = 4; }));
  CHECK(finds("refused_tasks", "", "5 background tasks", [](evidence&, evidence& now) {
    now.stats.background.rejected = 2;
    now.stats.background.timed_out = 3;
  }));
}

TEST_CASE("an offload is dear at ten times what was expected, while there are some") {
  const auto offload = [](std::uint64_t ns, std::uint64_t decisions) {
    return [=](evidence&, evidence& now) {
      auto& c = now.stats.choosers[0];
      c.offload_overhead.typical_ns = ns;
      c.counts[basal::mab::event::offload_decision] = decisions;
    };
  };
  CHECK(finds("dear_offload", "shop/int", "11 times", offload(11'000, 1)));
  CHECK(finds_nothing(offload(9'000, 1)));
  CHECK(finds_nothing(offload(11'000, 0)));
}

namespace {

struct timeline {
  warning_list list;
  warning_list::clock::time_point start{};

  std::size_t at(std::chrono::milliseconds time, const std::vector<finding>& found) {
    const auto today = std::chrono::system_clock::time_point{} + time;
    return list.update(found, start + time, today).size();
  }
};

const finding lasting{warning_kind::blocked_executor, "basal.msg0", "blocks"};
const finding event{warning_kind::refused_tasks, "", "refused"};

} // namespace

TEST_CASE("a state must last before it is a warning; an event is one at once") {
  timeline t;
  CHECK(t.at(0ms, {lasting, event}) == 1);
  CHECK(t.list.raised()[0].kind == "refused_tasks");
  CHECK(t.at(500ms, {lasting}) == 0);
  CHECK(t.at(1000ms, {lasting}) == 1);
  CHECK(t.at(1500ms, {lasting}) == 0); // once
  CHECK(t.list.raised().size() == 2);
  CHECK(t.list.raised()[0].since_ms == 0);
  CHECK(t.list.raised()[0].remedy == describe(warning_kind::blocked_executor).remedy);
}

TEST_CASE("a state that comes and goes is none, and one subject is not another") {
  timeline t;
  CHECK(t.at(0ms, {lasting}) == 0);
  CHECK(t.at(500ms, {}) == 0);
  CHECK(t.at(1100ms, {}) == 0);
  CHECK(t.at(1200ms, {lasting}) == 0);
  auto other = lasting;
  other.subject = "basal.msg1";
  CHECK(t.at(2200ms, {other}) == 0);
  CHECK(t.list.raised().empty());
}

TEST_CASE("a warning is cleared when its cause has not been seen for 5 s") {
  timeline t;
  t.at(0ms, {event});
  t.at(5000ms, {});
  CHECK(t.list.raised().size() == 1);
  t.at(5001ms, {});
  CHECK(t.list.raised().empty());
}

TEST_CASE("each kind has a name, a meaning, a remedy and no other's number") {
  for (std::size_t i = 0; i < warning_kinds; ++i) {
    const auto text = describe(static_cast<warning_kind>(i));
    CHECK(std::string{text.meaning} != "");
    CHECK(std::string{text.remedy} != "");
  }
}

TEST_CASE("a new warning writes a recording beside the one that the program wants of a crash") {
  const auto folder
    = std::filesystem::temp_directory_path() / ("basal_warning_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto crash = folder / "crash.bin";
  basal::executors::recorder::write_when_fatal(crash.string());
  {
    basal::actor_system_config config;
    config.set("basal.log-level", "off");
    std::atomic<bool> stop{false};
    caf::actor_system system{config};
    system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
      self->send(self, 1);
      return {[&](int) { stop.wait(false); }};
    });
    std::vector<warning> now;
    while (now.empty()) { // ctest's time-out ends it
      now = stats_of(system).warnings;
      std::this_thread::sleep_for(50ms);
    }
    CHECK(now[0].kind == "blocked_executor");
    CHECK_FALSE(std::filesystem::exists(crash));
    CHECK(std::filesystem::file_size(crash.string() + ".blocked_executor") > 100);
    stop = true;
    stop.notify_all();
  }
  std::filesystem::remove_all(folder);
}
