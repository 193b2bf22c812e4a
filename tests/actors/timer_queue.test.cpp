#include <basal/actors/detail/timer_queue.hpp>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/make_message.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace basal::actors::detail;

namespace {

constexpr auto receive_atom = caf::atom("receive");
constexpr auto stream_atom = caf::atom("stream");

timer_queue::time_point at(std::chrono::microseconds t) {
  return timer_queue::time_point{} + t;
}

struct fixture {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  timer_queue queue;
  std::vector<caf::strong_actor_ptr> actors;

  fixture() {
    for (int i = 0; i < 3; ++i)
      actors.push_back(caf::actor_cast<caf::strong_actor_ptr>(
        system.spawn([]() -> caf::behavior { return {[](int) {}}; })));
  }

  behaviour_timeout timeout(int actor, std::uint64_t id, caf::atom_value type = receive_atom) {
    return {actors[static_cast<std::size_t>(actor)], type, id};
  }

  request_timeout request(int actor, std::uint64_t id) {
    return {actors[static_cast<std::size_t>(actor)], caf::make_message_id(id).response_id()};
  }

  caf::message_id response_id(std::uint64_t id) {
    return caf::make_message_id(id).response_id();
  }

  actor_message message(int number) {
    return {actors[0], caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, number)};
  }

  timer_queue::node add(timer_queue::node what) {
    auto replaced = queue.add(what);
    CHECK_FALSE(what);
    return replaced;
  }

  timer_queue::node set_ordinary(timer_queue::time_point due, behaviour_timeout what) {
    return add(timer_queue::ordinary(due, std::move(what)));
  }

  timer_queue::node set_request(timer_queue::time_point due, request_timeout what) {
    return add(timer_queue::request(due, std::move(what)));
  }

  void set_multi(timer_queue::time_point due, behaviour_timeout what) {
    CHECK_FALSE(add(timer_queue::multi(due, std::move(what))));
  }

  void add_message(timer_queue::time_point due, actor_message what) {
    CHECK_FALSE(add(timer_queue::message(due, std::move(what))));
  }

  // The ids, or message contents, of what is due.
  std::vector<std::uint64_t> take(std::chrono::microseconds now) {
    struct identify {
      std::uint64_t operator()(const behaviour_timeout& x) const {
        return x.id;
      }
      std::uint64_t operator()(const request_timeout& x) const {
        return x.id.request_id().integer_value();
      }
      std::uint64_t operator()(const actor_message& x) const {
        return static_cast<std::uint64_t>(x.content->content().get_as<int>(0));
      }
      std::uint64_t operator()(const group_message&) const {
        return 0;
      }
    };
    std::vector<std::uint64_t> result;
    for (auto& node : queue.take_due(at(now)))
      result.push_back(std::visit(identify{}, node->what));
    return result;
  }

  std::size_t references(int actor) {
    return actors[static_cast<std::size_t>(actor)]->strong_refs.load();
  }
};

using ids = std::vector<std::uint64_t>;

} // namespace

TEST_CASE_METHOD(fixture, "a timer queue gives out what is due, earliest first") {
  CHECK_FALSE(queue.next_due());
  add_message(at(30ms), message(3));
  add_message(at(10ms), message(1));
  add_message(at(20ms), message(2));
  add_message(at(10ms), message(11)); // first come first served among equals
  CHECK(queue.next_due() == at(10ms));
  CHECK(take(9ms) == ids{});
  CHECK(take(20ms) == ids{1, 11, 2});
  CHECK(queue.next_due() == at(30ms));
  CHECK(take(1h) == ids{3});
  CHECK(queue.empty());
}

TEST_CASE_METHOD(fixture, "an ordinary timeout replaces the one of the same actor and type") {
  CHECK_FALSE(set_ordinary(at(10ms), timeout(0, 1)));
  CHECK_FALSE(set_ordinary(at(20ms), timeout(1, 2)));
  CHECK_FALSE(set_ordinary(at(30ms), timeout(0, 3, stream_atom)));
  auto replaced = set_ordinary(at(40ms), timeout(0, 4));
  REQUIRE(replaced);
  CHECK(std::get<behaviour_timeout>(replaced->what).id == 1);
  CHECK(set_ordinary(at(5ms), timeout(1, 5))); // to an earlier time as well
  CHECK(queue.size() == 3);
  CHECK(take(1h) == ids{5, 3, 4});
}

TEST_CASE_METHOD(fixture, "multi timeouts stand beside each other") {
  set_multi(at(20ms), timeout(0, 1));
  set_multi(at(10ms), timeout(0, 2));
  CHECK_FALSE(set_ordinary(at(15ms), timeout(0, 3)));
  CHECK(take(1h) == ids{2, 3, 1});
}

TEST_CASE_METHOD(fixture, "a cancelled timeout is gone and nothing else is") {
  CHECK_FALSE(set_ordinary(at(10ms), timeout(0, 1)));
  CHECK_FALSE(set_ordinary(at(10ms), timeout(1, 2)));
  CHECK_FALSE(set_request(at(10ms), request(0, 3)));
  CHECK_FALSE(set_request(at(10ms), request(0, 4)));
  CHECK_FALSE(set_request(at(10ms), request(1, 3)));
  CHECK(queue.cancel_ordinary(actors[0]->id(), receive_atom));
  CHECK_FALSE(queue.cancel_ordinary(actors[0]->id(), receive_atom));
  CHECK_FALSE(queue.cancel_ordinary(actors[1]->id(), stream_atom));
  CHECK(queue.cancel_request(actors[0]->id(), response_id(3)));
  CHECK_FALSE(queue.cancel_request(actors[0]->id(), response_id(3)));
  CHECK_FALSE(queue.cancel_request(actors[2]->id(), response_id(4)));
  CHECK(take(1h) == ids{2, 4, 3});
}

TEST_CASE_METHOD(fixture,
                 "cancelling an actor removes all of its timeouts and none of its messages") {
  for (int actor : {0, 1, 2}) {
    CHECK_FALSE(set_ordinary(at(10ms), timeout(actor, 1)));
    CHECK_FALSE(set_request(at(11ms), request(actor, 2)));
    set_multi(at(12ms), timeout(actor, 3));
    set_multi(at(13ms), timeout(actor, 4));
  }
  add_message(at(14ms), message(5)); // to actor 0
  CHECK(queue.cancel_actor(actors[0]->id()).size() == 4);
  CHECK(queue.cancel_actor(actors[0]->id()).empty());
  CHECK(queue.cancel_actor(actors[2]->id()).size() == 4);
  CHECK(take(1h) == ids{1, 2, 3, 4, 5});
}

TEST_CASE_METHOD(fixture, "an entry holds its actor until it leaves the queue") {
  // Its scheduler holds the actor, too, until it has run for the first time.
  while (references(1) > 1)
    std::this_thread::yield();
  const auto before = references(1);
  CHECK_FALSE(set_ordinary(at(10ms), timeout(1, 1)));
  CHECK_FALSE(set_request(at(10ms), request(1, 2)));
  set_multi(at(99ms), timeout(1, 3));
  CHECK(references(1) == before + 3);
  CHECK(take(10ms).size() == 2);
  CHECK(references(1) == before + 1);
  CHECK(take(1h).size() == 1);
  CHECK(references(1) == before);
  CHECK(queue.empty());
  {
    timer_queue another;
    for (const auto due : {0ms, 10ms, 10ms, 99ms}) {
      auto one = timer_queue::multi(at(due), timeout(1, 1));
      CHECK_FALSE(another.add(one));
      CHECK(another.take_due(at(-1ms)).empty());
    }
    CHECK(references(1) == before + 4);
  }
  CHECK(references(1) == before);
  CHECK_FALSE(queue.cancel_ordinary(actors[1]->id(), receive_atom));
}

TEST_CASE_METHOD(fixture, "time may go back, and begin and end anywhere") {
  using limits = timer_queue::time_point;
  add_message(limits::max(), message(6));
  add_message(limits::min(), message(1));
  add_message(at(-5ms), message(2));
  CHECK(take(-6ms) == ids{1});
  CHECK(queue.next_due() == at(-5ms));
  add_message(at(20ms), message(5));
  add_message(at(10'500us), message(4));
  CHECK(take(10ms) == ids{2});
  CHECK(take(3ms) == ids{});
  add_message(at(9ms), message(3)); // in a millisecond that has come, if not at present
  CHECK(queue.next_due() == at(9ms));
  CHECK(take(30ms) == ids{3, 4, 5});
  CHECK(queue.next_due() == limits::max());
}

TEST_CASE_METHOD(fixture, "a timer queue agrees with a naive one on random operations") {
  struct timer {
    std::chrono::microseconds due;
    int actor;
    bool request;
    std::uint64_t id;
  };
  std::vector<timer> naive; // in order of arrival
  std::mt19937 random{20240817};
  auto below = [&](int n) { return std::uniform_int_distribution<int>{0, n - 1}(random); };
  auto same = [](int actor, bool request, std::uint64_t id) {
    // Requests are told apart by their id; each actor has one ordinary timeout.
    return [=](const timer& t) {
      return t.actor == actor && t.request == request && (!request || t.id == id);
    };
  };
  std::chrono::microseconds now = 0us;
  std::uint64_t last_request = 0;
  for (int step = 0; step < 20'000; ++step) {
    const auto due = now + std::chrono::microseconds{below(10'000)}; // some in one millisecond
    const auto actor = below(3);
    const auto id = static_cast<std::uint64_t>(1 + below(20));
    switch (below(8)) {
    case 0:
    case 1:
    case 2: {
      REQUIRE_FALSE(set_request(at(due), request(actor, ++last_request)));
      naive.push_back({due, actor, true, last_request});
      break;
    }
    case 3:
    case 4: {
      auto replaced = set_ordinary(at(due), timeout(actor, id));
      REQUIRE(std::erase_if(naive, same(actor, false, id)) == (replaced ? 1 : 0));
      naive.push_back({due, actor, false, id});
      break;
    }
    case 5: {
      const auto one = last_request - std::min(last_request, id);
      auto removed
        = queue.cancel_request(actors[static_cast<std::size_t>(actor)]->id(), response_id(one));
      REQUIRE(std::erase_if(naive, same(actor, true, one)) == (removed ? 1 : 0));
      break;
    }
    case 6: {
      auto removed = below(10) == 0
                       ? queue.cancel_actor(actors[static_cast<std::size_t>(actor)]->id()).size()
                       : 0;
      if (removed > 0)
        REQUIRE(std::erase_if(naive, [=](const timer& t) { return t.actor == actor; }) == removed);
      break;
    }
    default: {
      now += std::chrono::microseconds{below(3000)};
      auto expected = naive;
      std::stable_sort(expected.begin(), expected.end(),
                       [](const timer& a, const timer& b) { return a.due < b.due; });
      ids expected_ids;
      for (const auto& t : expected)
        if (t.due <= now)
          expected_ids.push_back(t.id);
      std::erase_if(naive, [=](const timer& t) { return t.due <= now; });
      REQUIRE(take(now) == expected_ids);
    }
    }
    REQUIRE(queue.size() == naive.size());
    const auto earliest = std::min_element(
      naive.begin(), naive.end(), [](const timer& a, const timer& b) { return a.due < b.due; });
    const auto next = queue.next_due();
    REQUIRE(next.has_value() == (earliest != naive.end()));
    if (next) {
      REQUIRE(*next <= at(earliest->due));
      REQUIRE(*next > at(earliest->due - 1ms));
    }
  }
}
