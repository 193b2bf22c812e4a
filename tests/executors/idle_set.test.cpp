#include <basal/executors/detail/idle_set.hpp>
#include <basal/executors/detail/sleepers.hpp>

#include "support/catch.hpp"

#include <vector>

using basal::executors::idle_set;
using basal::executors::sleepers;

namespace {

bool anybody(std::size_t) {
  return true;
}

} // namespace

TEST_CASE("at most half of the executors search, rounded up") {
  struct {
    std::size_t executors, searchers;
  } rows[] = {{1, 1}, {2, 1}, {3, 2}, {4, 2}, {8, 4}};
  for (auto [executors, searchers] : rows) {
    idle_set set{executors};
    std::size_t admitted = 0;
    while (set.start_searching())
      ++admitted;
    CAPTURE(executors);
    CHECK(admitted == searchers);
    for (std::size_t i = 0; i < admitted; ++i)
      CHECK(set.stop_searching() == (i + 1 == admitted)); // only the last one is told
  }
}

TEST_CASE("each sleeper is claimed once, lowest first, beyond one word") {
  constexpr std::size_t executors = 200;
  idle_set set{executors};
  std::vector<std::size_t> asleep{0, 3, 63, 64, 127, 128, 199};
  for (auto i : asleep)
    set.enter(i);
  CHECK(set.num_parked() == asleep.size());
  for (auto i : asleep) {
    auto claimed = set.claim_any();
    REQUIRE(claimed);
    CHECK(*claimed == i);
  }
  CHECK_FALSE(set.claim_any());
  CHECK_FALSE(set.any_parked());
}

TEST_CASE(
  "a preferred sleeper is claimed before those of lower index, any other if there is none") {
  idle_set set{200};
  for (std::size_t i : {1, 70, 130})
    set.enter(i);
  auto is_130 = [](std::size_t i) { return i == 130; };
  CHECK(set.claim_any(is_130) == 130);
  CHECK(set.claim_any(is_130) == 1);
  CHECK(set.claim_any(is_130) == 70);
  CHECK_FALSE(set.claim_any(is_130));
}

TEST_CASE("those that are awake come in turn, round about") {
  idle_set set{130};
  for (std::size_t i = 0; i < 130; ++i)
    if (i != 3 && i != 128)
      set.enter(i);
  CHECK(set.next_awake(0) == 3);
  CHECK(set.next_awake(3) == 128);
  CHECK(set.next_awake(128) == 3); // past the end
  set.enter(3);
  CHECK(set.next_awake(128) == 128); // nobody else is
  set.enter(128);
  CHECK(set.next_awake(5) == 5); // nobody is
}

TEST_CASE("an executor that was claimed cannot leave by itself") {
  idle_set set{2};
  set.enter(1);
  CHECK(set.claim(1));
  CHECK_FALSE(set.claim(1));
  CHECK_FALSE(set.leave(1)); // a token is owed
  set.enter(1);
  CHECK(set.leave(1));
  CHECK_FALSE(set.claim(1));
}

TEST_CASE("a producer wakes nobody while somebody searches") {
  idle_set set{4};
  set.enter(2);
  REQUIRE(set.start_searching());
  CHECK_FALSE(set.claim_searcher(anybody));
  REQUIRE(set.stop_searching());
  auto claimed = set.claim_searcher(anybody);
  REQUIRE(claimed);
  CHECK(claimed->index == 2);
  CHECK(set.num_searching() == 1); // the claimed one
}

TEST_CASE("while one is coming, a producer wakes one that is awake, and nobody else") {
  idle_set set{8};
  for (std::size_t i : {1, 2, 5})
    set.enter(i);
  const auto awake = [](std::size_t i) { return i == 5; };
  const auto nobody = [](std::size_t) { return false; };
  auto first = set.claim_searcher(nobody);
  REQUIRE(first);
  CHECK((first->index == 1 && first->comes));
  CHECK((set.num_searching() == 0 && set.num_coming() == 1));
  CHECK_FALSE(set.claim_searcher(nobody));
  auto second = set.claim_searcher(awake);
  REQUIRE(second);
  CHECK((second->index == 5 && !second->comes));
  CHECK_FALSE(set.claim_searcher(anybody)); // the second one searches
  CHECK(set.stop_searching());
  set.arrive();
  CHECK((set.num_searching() == 1 && set.num_coming() == 0));
  CHECK_FALSE(set.claim_searcher(anybody));
  CHECK(set.stop_searching());
  CHECK(set.claim_searcher(nobody)->index == 2);
}

TEST_CASE("an executor that looks is woken though another one is coming") {
  // Nobody's thread runs yet, so all sleep as in the kernel.
  sleepers beds{3, {nullptr, [](void*, std::size_t) noexcept { return true; }}};
  const auto nothing_is_left = [] { return false; };
  CHECK(beds.would_wake());
  beds.notify();
  CHECK((beds.num_coming() == 1 && beds.num_parked() == 2));
  CHECK_FALSE(beds.would_wake());
  beds.notify();
  CHECK(beds.num_parked() == 2);
  beds.sleep(0); // takes the token
  CHECK((beds.num_coming() == 0 && beds.num_searching() == 1));
  CHECK_FALSE(beds.would_wake());
  beds.stop_searching(nothing_is_left);
  beds.notify();
  REQUIRE((beds.num_coming() == 1 && beds.num_parked() == 1));
  REQUIRE(beds.prepare_sleep(0, false, nothing_is_left));
  CHECK(beds.would_wake());
  beds.notify();
  CHECK(beds.is_woken(0));
  CHECK((beds.num_coming() == 1 && beds.num_searching() == 1));
}

TEST_CASE("when a claimed searcher is given up, others are woken again") {
  idle_set set{4};
  set.enter(1);
  set.enter(2);
  for (const bool is_awake : {false, true}) {
    auto claimed = set.claim_searcher([=](std::size_t) { return is_awake; });
    REQUIRE(claimed);
    CHECK(claimed->comes != is_awake);
    set.give_up(*claimed);
    CHECK((set.num_searching() == 0 && set.num_coming() == 0));
  }
}
