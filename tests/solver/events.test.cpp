#include <basal/solver/events.hpp>

#include "support/catch.hpp"

#include <thread>
#include <vector>

using namespace basal::solver;

namespace {

solve_event numbered(std::uint64_t id) {
  return {.kind = event_kind::solve_started, .id = id};
}

} // namespace

TEST_CASE("a subscriber gets the events from its subscription on, in order") {
  event_bus bus;
  CHECK_FALSE(bus.has_subscribers());
  bus.publish(numbered(1));
  auto mine = bus.subscribe();
  CHECK(bus.has_subscribers());
  CHECK_FALSE(mine->try_next());
  bus.publish(numbered(2));
  bus.publish(numbered(3));
  CHECK(mine->try_next()->event == numbered(2));
  CHECK(mine->try_next()->event == numbered(3));
  CHECK_FALSE(mine->try_next());
}

TEST_CASE("a slow subscriber loses the oldest events and is told how many") {
  event_bus bus;
  auto slow = bus.subscribe(4);
  auto quick = bus.subscribe(16);
  for (std::uint64_t i = 1; i <= 10; ++i)
    bus.publish(numbered(i));
  auto first = slow->try_next();
  REQUIRE(first);
  CHECK(first->lost == 6);
  CHECK_FALSE(first->event);
  for (std::uint64_t i = 7; i <= 10; ++i)
    CHECK(slow->try_next()->event == numbered(i));
  CHECK_FALSE(slow->try_next());
  CHECK(slow->lost() == 6);
  CHECK(bus.lost() == 6);
  for (std::uint64_t i = 1; i <= 10; ++i) // others lose nothing by it
    CHECK(quick->try_next()->event == numbered(i));
}

TEST_CASE("a subscriber is notified when something comes while nothing waits") {
  event_bus bus;
  int notified = 0;
  auto mine = bus.subscribe(2, [&] { ++notified; });
  for (std::uint64_t i = 0; i < 5; ++i)
    bus.publish(numbered(i));
  CHECK(notified == 1);
  while (mine->try_next()) {
  }
  bus.publish(numbered(9));
  CHECK(notified == 2);
}

TEST_CASE("a subscription that is dropped costs the publisher nothing more") {
  event_bus bus;
  auto stays = bus.subscribe();
  bus.subscribe().reset();
  stays.reset();
  bus.publish(numbered(1));
  CHECK_FALSE(bus.has_subscribers());
}

TEST_CASE("room for no event is refused") {
  event_bus bus;
  CHECK_THROWS_WITH(bus.subscribe(0), ContainsSubstring("at least 1"));
}

TEST_CASE("events of several publishers arrive or are counted as lost, each one's in order") {
  constexpr std::uint64_t each = 20'000;
  event_bus bus;
  auto mine = bus.subscribe(64);
  std::vector<std::thread> publishers;
  for (std::uint64_t p = 0; p < 3; ++p)
    publishers.emplace_back([&bus, p] {
      for (std::uint64_t i = 1; i <= each; ++i)
        bus.publish(numbered(p * each * 2 + i));
    });
  std::uint64_t seen = 0, lost = 0;
  std::uint64_t last[3] = {};
  bool in_order = true;
  auto drain = [&] {
    while (auto next = mine->try_next()) {
      lost += next->lost;
      if (!next->event)
        continue;
      ++seen;
      auto& before = last[next->event->id / (each * 2)];
      in_order = in_order && next->event->id > before;
      before = next->event->id;
    }
  };
  while (seen + lost < each)
    drain();
  for (auto& p : publishers)
    p.join();
  drain();
  CHECK(in_order);
  CHECK(seen + lost == 3 * each);
  CHECK(lost == mine->lost());
}
