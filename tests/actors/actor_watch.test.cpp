#include "actor_watch.hpp"
#include "times_of_buckets.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/stats.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/resumable.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace basal::actors;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;
using slow_atom = caf::atom_constant<caf::atom("slow")>;

/// Longer than what lies between two turns that are counted, so that all are.
constexpr auto long_enough = 250us;

void compute(std::chrono::microseconds time) {
  for (const auto end = clock_type::now() + time; clock_type::now() < end;) {
  }
}

struct worker_state {
  static inline const char* name = "worker";
};

struct other_state {
  static inline const char* name = "other";
};

struct slow_state {
  static inline const char* name = "slow";
};

template <class State>
caf::behavior worker(caf::stateful_actor<State>*) {
  return {
    [](int x) {
      compute(long_enough);
      return x;
    },
    [](slow_atom) {
      compute(20 * long_enough);
      return 0;
    },
  };
}

struct player_state {
  static inline const char* name = "player";
  caf::response_promise done;
};

caf::behavior player(caf::stateful_actor<player_state>* self) {
  return {[self](int n, const caf::actor& other) {
    if (!self->state.done.pending())
      self->state.done = self->make_response_promise();
    if (n == 0)
      self->state.done.deliver(0);
    else
      self->send(other, n - 1, caf::actor{self});
  }};
}

/// One message executor, or as many as told.
struct watched {
  struct config : basal::actor_system_config {
    explicit config(std::size_t executors) {
      set("basal.message-executors", executors);
      set("basal.compute-executors", std::size_t{1});
      set("basal.log-level", "error");
    }
  };

  config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};

  explicit watched(std::size_t executors = 1) : cfg(executors) {
  }

  template <class... Ts>
  void ask(const caf::actor& whom, Ts... what) {
    self->request(whom, caf::infinite, what...)
      .receive([](int) {}, [](const caf::error&) { FAIL("no answer"); });
  }

  /// From now on: an answer comes before its turn is over, and with one executor, that before the
  /// answer of another actor.
  void watch() {
    const auto last = system.spawn([](caf::event_based_actor* once) -> caf::behavior {
      return {[once](int x) {
        once->quit();
        return x;
      }};
    });
    ask(last, 1);
    watch_actors(system, 1h);
  }

  /// Waits for that many messages, and until nothing changes: an answer comes before its turn is
  /// over and counted.
  actor_stats of_type(const std::string& name, std::uint64_t messages = 0) {
    for (auto last = counted(name);;) {
      std::this_thread::sleep_for(20ms);
      const auto now = counted(name);
      if (now == last && now.messages >= messages)
        return now;
      last = now;
    }
  }

private:
  actor_stats counted(const std::string& name) {
    for (auto& x : stats_of(system).actor_types)
      if (x.name == name)
        return x;
    return {};
  }
};

} // namespace

TEST_CASE("buckets of times end at powers of two, one of them at a microsecond") {
  CHECK(time_buckets::end(10) == 1000);
  CHECK(time_buckets::of(0) == 0);
  CHECK(time_buckets::of(999) == 10);
  CHECK(time_buckets::of(1001) == 11);
  CHECK(time_buckets::of(~std::uint64_t{0}) == time_buckets::size - 1);
  for (std::uint64_t ns = 1; ns < 10'000'000'000; ns = 3 * ns + 1) {
    const auto bucket = time_buckets::of(ns);
    CHECK(static_cast<double>(ns) <= time_buckets::end(bucket));
    CHECK((bucket == 0 || static_cast<double>(ns) >= time_buckets::end(bucket - 1)));
  }
}

TEST_CASE("times within a limit are those in the buckets that end there, and before") {
  std::array<std::uint64_t, time_buckets::size> buckets{};
  ++buckets[time_buckets::of(999)];
  buckets[time_buckets::of(3'999)] += 2; // within 4 us
  buckets[time_buckets::of(4'001)] += 4; // within 16 us
  ++buckets[time_buckets::of(30'000'000'000)];
  const auto x = times_of_buckets(buckets, 5, true);
  CHECK(x.count == 8);
  CHECK(x.sum_ns == 5);
  REQUIRE(x.within.size() == time_limits);
  CHECK(x.within[0] == 1);
  CHECK(x.within[1] == 3);
  CHECK(x.within[2] == 7);
  CHECK(x.within.back() == 7); // 16.8 s
  CHECK(x.p50_ns >= 4'000);
  CHECK(x.p50_ns <= 8'000);
  CHECK(x.p99_ns > 16'000'000'000);
  CHECK(times_of_buckets(buckets, 5, false).within.empty());
}

TEST_CASE("of 100,000 actors that are equally busy few come in, and one that is busier does") {
  auto places = std::make_unique<busiest>();
  basal::detail::xorshift random{0, 1};
  const auto chance = [&] { return static_cast<double>(random.below(1 << 20)) / (1 << 20); };
  int came = 0;
  for (std::uint64_t id = 1; id <= 100'000; ++id) {
    came += places->charge(id, 7, 10, chance()) != nullptr ? 1 : 0;
    if (id % 10 == 0)
      if (auto* one = places->charge(1'000'000, 8, 100, chance()))
        busiest::tally::add(one->turns, 1);
  }
  CHECK(came < 10'000);
  std::size_t held = 0;
  std::uint64_t turns = 0;
  places->for_each([&](std::uint64_t id, std::uint64_t type, const busiest::numbers& numbers) {
    ++held;
    if (id == 1'000'000) {
      CHECK(type == 8);
      turns = numbers[0];
    }
  });
  CHECK(held == 64);
  CHECK(turns > 9'000); // it came in soon
}

TEST_CASE("an actor that takes another one's place begins at nothing") {
  auto places = std::make_unique<basic_busiest<std::atomic, 1>>();
  busiest::tally::add(places->charge(1, 7, 10, 0)->turns, 5);
  REQUIRE(places->charge(2, 7, 10, 0.99) == nullptr);
  REQUIRE(places->charge(2, 7, 10, 0.1) != nullptr);
  places->for_each([](std::uint64_t id, std::uint64_t, const busiest::numbers& numbers) {
    CHECK(id == 2);
    CHECK(numbers[0] == 0);
  });
}

TEST_CASE("types have bounded memory: the 513th and later ones are one") {
  struct nobody final : caf::resumable {
    resume_result resume(caf::execution_unit*, std::size_t) override {
      return done;
    }
    void intrusive_ptr_add_ref_impl() override {
    }
    void intrusive_ptr_release_impl() override {
    }
  } job;
  auto types = std::make_unique<actor_types>();
  const std::vector<std::array<char, 24>> keys(2'000);
  for (int round = 0; round < 2; ++round)
    for (const auto& key : keys) {
      auto* entry = types->of(&key, job);
      REQUIRE(entry != nullptr);
      CHECK(types->of(&key, job) == entry);
      CHECK(types->find(&key) == entry);
      actor_tally::add(entry->counts.turns, 1);
    }
  std::size_t count = 0;
  std::uint64_t turns_of_others = 0;
  types->for_each([&](actor_types::entry& entry) {
    ++count;
    if (entry.name == actor_types::others)
      turns_of_others = entry.counts.turns.load();
  });
  CHECK(count == actor_types::most + 1);
  CHECK(turns_of_others == 2 * (keys.size() - actor_types::most));
}

TEST_CASE("a note of when an actor was woken is taken once, and an old one is replaced") {
  auto notes = std::make_unique<basic_delay_probes<std::atomic, 1>>();
  int a = 0;
  int b = 0;
  CHECK(notes->take(&a) == std::nullopt);
  CHECK_FALSE(notes->any());
  notes->place(&a, 10, 0);
  CHECK(notes->any());
  CHECK(notes->take(&b) == std::nullopt);
  CHECK(notes->take(&a) == 10);
  CHECK(notes->take(&a) == std::nullopt);
  notes->place(&a, 20, 0);
  notes->place(&b, 30, 20); // that of a is none too old
  CHECK(notes->take(&b) == std::nullopt);
  notes->place(&b, 40, 21);
  CHECK(notes->take(&a) == std::nullopt);
  CHECK(notes->any());
  CHECK(notes->take(&b) == 40);
  CHECK_FALSE(notes->any());
}

TEST_CASE("nothing is counted unless somebody watches, and no more when the time is over") {
  watched x;
  const auto actor = x.system.spawn(worker<worker_state>);
  x.ask(actor, 1);
  CHECK(stats_of(x.system).actor_types.empty());
  CHECK(stats_of(x.system).busy_actors.empty());
  watch_actors(x.system, 1ms);
  std::this_thread::sleep_for(5ms);
  x.ask(actor, 1); // may still be counted: the executor's clock is a turn old
  const auto before = x.of_type("worker");
  for (int i = 0; i < 20; ++i)
    x.ask(actor, 1);
  CHECK(x.of_type("worker") == before);
  watch_actors(x.system, 1h);
  for (int i = 0; i < 20; ++i)
    x.ask(actor, 1);
  CHECK(x.of_type("worker", before.messages + 20).messages == before.messages + 20);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
}

TEST_CASE("actors are counted by type: turns, messages, time, handlers, ends") {
  watched x;
  const auto one = x.system.spawn(worker<worker_state>);
  const auto two = x.system.spawn(worker<worker_state>);
  const auto other = x.system.spawn(worker<other_state>);
  const auto slow = x.system.spawn(worker<slow_state>);
  // An actor's first turn is short, and the next one may come too soon to be counted.
  for (const auto& begins : {one, two, other, slow})
    x.ask(begins, 1);
  x.watch();
  for (int i = 0; i < 30; ++i) {
    x.ask(one, i);
    x.ask(two, i);
    x.ask(other, i);
  }
  x.ask(slow, slow_atom::value);
  const auto workers = x.of_type("worker", 60);
  CHECK(workers.messages == 60);
  CHECK(workers.turns >= 60);
  CHECK(workers.busy_ns >= 60 * 200'000);
  CHECK(workers.handlers.count == 60);
  CHECK(workers.handlers.p50_ns >= 100'000);
  CHECK(workers.handlers.p99_ns >= workers.handlers.p50_ns);
  CHECK(workers.longest_ns >= 150'000);
  CHECK(workers.longest_message == "i32");
  REQUIRE(workers.handlers.within.size() == time_limits);
  CHECK(workers.handlers.within[3] == 0); // none within 64 us
  CHECK(workers.handlers.within.back() == 60);
  CHECK(x.of_type("other", 30).messages == 30);
  CHECK(x.of_type("slow", 1).messages == 1);
  CHECK(x.of_type("slow").longest_ns >= 1'500'000);
  CHECK(x.of_type("slow").longest_message == "'slow'");
  caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  x.self->wait_for(one);
  CHECK(x.of_type("worker").ended == 1);
  for (const auto& left : {two, other, slow})
    caf::anon_send_exit(left, caf::exit_reason::kill);
}

TEST_CASE("what is counted in part is right on average") {
  constexpr int rounds = 100'000;
  watched x;
  watch_actors(x.system, 1h);
  // Alone on its executor: each message is a turn, and many come within what lies between two
  // that are counted.
  const auto a = x.system.spawn(player);
  const auto b = x.system.spawn(player);
  x.ask(a, rounds, b);
  const auto found = x.of_type("player");
  CHECK(found.messages > rounds / 2);
  CHECK(found.messages < rounds * 2);
  CHECK(found.turns > rounds / 4);
  CHECK(found.turns < rounds * 2);
  caf::anon_send_exit(a, caf::exit_reason::kill);
  caf::anon_send_exit(b, caf::exit_reason::kill);
}

TEST_CASE("a long turn is counted once, whether it was picked or not") {
  constexpr std::uint64_t slow_turns = 100;
  constexpr int quick_turns = 40; // in between: one of several of them is counted
  watched x;
  const auto quick = x.system.spawn(
    [](caf::event_based_actor*) -> caf::behavior { return {[](int n) { return n; }}; });
  const auto slow = x.system.spawn(worker<slow_state>);
  x.ask(slow, 1); // its first turn, which is short
  x.watch();
  for (std::uint64_t i = 0; i < slow_turns; ++i) {
    for (int k = 0; k < quick_turns; ++k)
      x.ask(quick, k);
    x.ask(slow, 1);
  }
  const auto found = x.of_type("slow", slow_turns);
  CHECK(found.turns == slow_turns);
  CHECK(found.messages == slow_turns);
  CHECK(found.busy_ns >= slow_turns * 200'000);
  caf::anon_send_exit(quick, caf::exit_reason::kill);
  caf::anon_send_exit(slow, caf::exit_reason::kill);
}

TEST_CASE("messages that handlers send are timed, some of them") {
  constexpr int rounds = 10;
  watched x;
  const auto receiver = x.system.spawn([](caf::stateful_actor<other_state>*) -> caf::behavior {
    return {[](int) {}}; // answers nothing
  });
  const auto sender = x.system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    return {[=](int n) {
      self->send(receiver, n);
      compute(10 * long_enough); // the receiver waits: there is one executor
      return n;
    }};
  });
  x.watch();
  for (int i = 0; i < rounds; ++i)
    x.ask(sender, i);
  const auto delays = x.of_type("other").delays;
  CHECK(delays.count >= rounds / 2);
  CHECK(delays.sum_ns >= delays.count * 2'000'000);
  caf::anon_send_exit(sender, caf::exit_reason::kill);
  caf::anon_send_exit(receiver, caf::exit_reason::kill);
}

TEST_CASE("an actor that has left messages waits for its next turn from then on") {
  constexpr int messages = 40;
  watched x;
  const auto one = x.system.spawn(worker<worker_state>);
  const auto other = x.system.spawn(worker<other_state>);
  x.watch();
  for (int i = 0; i < messages; ++i) {
    caf::anon_send(one, i);
    caf::anon_send(other, i);
  }
  x.ask(one, 1);
  CHECK(x.of_type("worker").delays.count > 1); // one is of the first message
  caf::anon_send_exit(one, caf::exit_reason::kill);
  caf::anon_send_exit(other, caf::exit_reason::kill);
}

TEST_CASE("a delay is from the message that wakes an actor to the actor's turn") {
  watched x;
  watch_actors(x.system, 1h);
  std::atomic<bool> runs{false};
  std::atomic<bool> go{false};
  const auto blocker = x.system.spawn([&](caf::event_based_actor*) -> caf::behavior {
    return {[&](int) {
      runs.store(true, std::memory_order_relaxed);
      while (!go.load(std::memory_order_relaxed))
        std::this_thread::yield();
    }};
  });
  const auto actor = x.system.spawn(worker<worker_state>);
  x.ask(actor, 1);
  const auto before = x.of_type("worker").delays;
  caf::anon_send(blocker, 1);
  while (!runs.load(std::memory_order_relaxed))
    std::this_thread::yield();
  caf::anon_send(actor, 1);
  std::this_thread::sleep_for(30ms);
  go.store(true, std::memory_order_relaxed);
  x.ask(actor, 1);
  const auto after = x.of_type("worker").delays;
  CHECK(after.count > before.count);
  CHECK(after.sum_ns - before.sum_ns >= 25'000'000);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  caf::anon_send_exit(blocker, caf::exit_reason::kill);
}

TEST_CASE("a mailbox is as long as it was found of late") {
  watched x;
  watch_actors(x.system, 1h);
  const auto actor = x.system.spawn(worker<worker_state>);
  for (int i = 0; i < 200; ++i)
    caf::anon_send(actor, i);
  x.ask(actor, 1);
  const auto full = x.of_type("worker").mailbox;
  CHECK(full >= 2);
  CHECK(full <= 201);
  for (int i = 0; i < 50; ++i)
    x.ask(actor, 1);
  CHECK(x.of_type("worker").mailbox <= 1);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
}

TEST_CASE("the busiest actors are told one by one, the busiest first and 64 at most") {
  watched x{2};
  watch_actors(x.system, 1h);
  std::vector<caf::actor> all;
  for (int i = 0; i < 200; ++i)
    all.push_back(x.system.spawn(worker<other_state>));
  const auto busy = x.system.spawn(worker<worker_state>);
  for (const auto& one : all)
    x.ask(one, 1);
  for (int i = 0; i < 50; ++i)
    x.ask(busy, slow_atom::value);
  std::this_thread::sleep_for(20ms);
  const auto found = stats_of(x.system).busy_actors;
  CHECK(found.size() <= 64);
  CHECK(std::is_sorted(found.begin(), found.end(),
                       [](auto& a, auto& b) { return a.busy_ns > b.busy_ns; }));
  const auto at = std::find_if(found.begin(), found.end(),
                               [&](const actor_stats& one) { return one.id == busy.id(); });
  REQUIRE(at != found.end());
  CHECK(at->name == "worker");
  CHECK(at->longest_message == "'slow'");
  CHECK(at->messages > 30); // all since it is among them
  all.push_back(busy);
  for (const auto& one : all)
    caf::anon_send_exit(one, caf::exit_reason::kill);
}

TEST_CASE("an actor that is watched gets the message behind a timeout of 0") {
  watched x;
  watch_actors(x.system, 1h);
  const auto actor = x.system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](int n) { return n; }, caf::after(0s) >> [] { compute(5 * long_enough); }};
  });
  std::this_thread::sleep_for(5ms); // its timeouts have begun
  for (int i = 0; i < 20; ++i)
    x.ask(actor, i); // waits for ever where it does not
  caf::anon_send_exit(actor, caf::exit_reason::kill);
}

TEST_CASE("a system that does not run on basal has no actors to watch") {
  caf::actor_system_config cfg;
  cfg.set("scheduler.max-threads", 1);
  caf::actor_system system{cfg};
  CHECK_THROWS_AS(watch_actors(system, 1s), std::logic_error);
}
