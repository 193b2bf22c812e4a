#include "actors/adaptive_fixture.hpp"

#include <basal/actors/adaptive_map.hpp>

#include <caf/attach_stream_sink.hpp>
#include <caf/attach_stream_source.hpp>
#include <caf/downstream.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/stream.hpp>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using basal::mab::event;
using namespace adaptive_tests;
using basal::actors::adaptive_actor_config;
using basal::actors::adaptive_map;
using caf::behavior;
using caf::event_based_actor;

namespace {

const adaptive_actor_config configs[] = {{}, always_inline, always_offload};

/// Sends 0, 1, 2, ... count-1 as a stream, and counts in `sent` how far it has come.
behavior source(event_based_actor* me, int count, std::atomic<int>* sent) {
  return {[=](const caf::actor& to) {
    caf::attach_stream_source(
      me, to, [](int& next) { next = 0; },
      [=](int& next, caf::downstream<int>& out, std::size_t most) {
        for (std::size_t i = 0; i < most && next < count; ++i)
          out.push(next++);
        sent->store(next);
      },
      [=](const int& next) { return next == count; });
  }};
}

struct collected {
  std::vector<std::string> seen;
};

/// Keeps what it receives; at the stream's end sends it to `observer`.
behavior sink(caf::stateful_actor<collected>* me, const caf::actor& observer) {
  return {[=](const caf::stream<std::string>& in) {
    return caf::attach_stream_sink(
      me, in, [](caf::unit_t&) {},
      [me](caf::unit_t&, std::string x) { me->state.seen.push_back(std::move(x)); },
      [=](caf::unit_t&, const caf::error&) { me->send(observer, me->state.seen); });
  }};
}

} // namespace

TEST_CASE_METHOD(fixture, "a range is mapped in order, wherever its elements are worked on") {
  constexpr int count = 200;
  for (const auto& config : configs) {
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      return {[&, me](int factor) {
        std::vector<int> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 0);
        int active = 0; // never two at a time, so it needs no atomic
        auto result = adaptive_map(
          me, numbers,
          [&](int x) {
            const int before = active++;
            if (x % 20 == 0)
              burn(std::chrono::microseconds{300});
            active -= before + 1;
            return std::to_string(factor * x + before);
          },
          config);
        return result;
      }};
    });
    const auto result = ask<std::vector<std::string>>(worker, 3);
    REQUIRE(result.size() == count);
    bool same = true;
    for (int x = 0; x < count; ++x)
      same = same && result[static_cast<std::size_t>(x)] == std::to_string(3 * x);
    CHECK(same);
  }
}

TEST_CASE_METHOD(fixture, "mapped elements may be changed in place, and nothing may be returned") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[me](std::vector<int>& numbers) {
      adaptive_map(
        me, numbers, [](int& x) { x *= 2; }, always_offload);
      return numbers;
    }};
  });
  CHECK(ask<std::vector<int>>(worker, std::vector<int>{1, 2, 3}) == std::vector<int>{2, 4, 6});
}

TEST_CASE_METHOD(fixture,
                 "a scoped actor maps where its thread is, or as a handler's executor does") {
  const std::vector<int> numbers{1, 2, 3};
  const auto places = [&](const caf::scoped_actor& me) {
    return adaptive_map(
      me, numbers, [](int) { return here(); }, always_offload);
  };
  for (const auto* place : places(self))
    CHECK(place == nullptr);
  auto worker = system.spawn([&](event_based_actor*) -> behavior {
    return {[&](int) {
      const caf::scoped_actor me{system};
      int there = 0;
      for (const auto* place : places(me))
        there += place == compute();
      return there;
    }};
  });
  CHECK(ask<int>(worker, 1) == 3);
}

TEST_CASE_METHOD(fixture, "the first element that throws ends the mapping") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[me](int) {
      const std::vector<int> numbers{1, 2, 3, 4};
      int begun = 0;
      try {
        adaptive_map(
          me, numbers,
          [&](int x) {
            ++begun;
            if (x == 3)
              throw std::runtime_error("three");
            return x;
          },
          always_offload);
      } catch (const std::runtime_error&) {
        return begun;
      }
      return -1;
    }};
  });
  CHECK(ask<int>(worker, 1) == 3);
}

TEST_CASE_METHOD(fixture,
                 "each mapping has a chooser of its own, which starts from the last one's") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int count) {
      const std::vector<int> numbers(static_cast<std::size_t>(count));
      const auto places = adaptive_map(me, numbers,
                                       [&](int) {
                                         burn(std::chrono::milliseconds{2});
                                         return here() == messages() ? 1 : 0;
                                       },
                                       {.name = "pixels"});
      return std::accumulate(places.begin(), places.end(), 0);
    }};
  });
  CHECK(ask<int>(worker, 5) == 1); // the first element of the first one
  CHECK(ask<int>(worker, 5) == 0);
  CHECK(stats("pixels").counts[event::inline_decision]
          + stats("pixels").counts[event::offload_decision]
        == 10);
  CHECK(stats("pixels").counts[event::prior_adoption] == 1);
}

TEST_CASE_METHOD(fixture, "a stage of a CAF stream keeps the order") {
  constexpr int count = 3000;
  for (const auto& config : configs) {
    auto stage = system.spawn([&](event_based_actor* me) -> behavior {
      return {[&, me](const caf::stream<int>& in) {
        return adaptive_map(
          me, in,
          [](int x) {
            if (x % 500 == 0)
              burn(std::chrono::microseconds{500});
            return std::to_string(x);
          },
          config);
      }};
    });
    auto collector = system.spawn(sink, caf::actor{self.ptr()});
    std::atomic<int> sent{0};
    auto origin = system.spawn(source, count, &sent);
    // The stage passes the stream on to the sink.
    self->send(origin, collector * stage);
    std::vector<std::string> seen;
    self->receive([&](std::vector<std::string>& x) { seen = std::move(x); },
                  caf::after(patience) >> [] { FAIL("the stream did not end"); });
    REQUIRE(seen.size() == count);
    bool same = true;
    for (int i = 0; i < count; ++i)
      same = same && seen[static_cast<std::size_t>(i)] == std::to_string(i);
    CHECK(same);
  }
}

TEST_CASE_METHOD(fixture, "a slow stage slows its source down") {
  constexpr int count = 20'000;
  std::atomic<int> sent{0};
  std::atomic<bool> go_on{false};
  std::atomic<bool> begun{false};
  auto stage = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](const caf::stream<int>& in) {
      return adaptive_map(
        me, in,
        [&](int x) {
          if (x == 0) {
            begun.store(true);
            begun.notify_all();
            go_on.wait(false);
          }
          return std::to_string(x);
        },
        always_offload);
    }};
  });
  auto collector = system.spawn(sink, caf::actor{self.ptr()});
  auto origin = system.spawn(source, count, &sent);
  self->send(origin, collector * stage);
  begun.wait(false);
  // While the first element is worked on, the executor of all three is free: an echo is answered,
  // and the source goes on until its credit is used up.
  auto echo = system.spawn([]() -> behavior { return {[](int x) { return x; }}; });
  int before = -1;
  while (before != sent.load()) {
    before = sent.load();
    for (int i = 0; i < 200; ++i)
      CHECK(ask<int>(echo, i) == i);
  }
  CHECK(before < count / 10);
  go_on.store(true);
  go_on.notify_all();
  self->receive([&](const std::vector<std::string>& x) { CHECK(x.size() == count); },
                caf::after(patience) >> [] { FAIL("the stream did not end"); });
}
