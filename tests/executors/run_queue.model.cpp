// The run queue under controlled schedules: nothing is lost, nothing comes out
// twice, no slot is read while another thread writes it.

#include "model_support.hpp"

using namespace model;
using basal::executors::steal_outcome;

namespace {

template <std::uint32_t Capacity, template <class> class Atomic = atomic>
using ring = basal::executors::run_queue<item, Capacity, Atomic>;

/// Pushes and pops in turn, pushing `items` in all. An item that finds no room because a thief is
/// at work goes elsewhere, as in executor::push_ring.
template <class Ring, int N>
void own(Ring& mine, tally<N>& seen, int items) {
  item out;
  for (int i = 1; i <= items; ++i) {
    while (!mine.push_back(i)) {
      if (!mine.pop_front(out)) {
        seen.see(i);
        break;
      }
      seen.see(out);
    }
    if (i % 3 == 0 && mine.pop_front(out))
      seen.see(out);
  }
}

int lost_thefts = 0; // in all schedules so far

template <class Ring, int N>
void rob(Ring& victim, Ring& mine, tally<N>& seen, int attempts) {
  item out;
  for (int i = 0; i < attempts; ++i)
    switch (const auto theft = victim.steal_into(mine, out); theft.outcome) {
    case steal_outcome::stolen:
      seen.see(out);
      while (mine.pop_front(out))
        seen.see(out);
      break;
    case steal_outcome::lost:
      ++lost_thefts;
      break;
    case steal_outcome::no_room:
      check(false, "an empty ring has room");
      break;
    case steal_outcome::empty:
      break;
    }
}

template <class Ring, int N>
void drain(Ring& mine, tally<N>& seen) {
  item out;
  while (mine.pop_front(out))
    seen.see(out);
}

template <class Ring, int Items>
scenario thieves(int count, int attempts) {
  return [=](run& r) {
    Ring victim;
    std::array<Ring, 2> loot;
    tally<Items> seen;
    r.thread("owner", [&] { own(victim, seen, Items); });
    for (int t = 0; t < count; ++t)
      r.thread("thief " + std::to_string(t),
               [&, t] { rob(victim, loot[static_cast<std::size_t>(t)], seen, attempts); });
    r.always([&] { check(victim.size() <= Ring::capacity, "more items than slots"); });
    r.go();
    drain(victim, seen);
    seen.expect_all();
  };
}

/// The owner makes room as executor::push_ring does.
template <class Ring>
scenario overflow() {
  return [](run& r) {
    constexpr int items = static_cast<int>(Ring::capacity) + 2;
    Ring victim, loot;
    tally<items> seen;
    r.thread("owner", [&] {
      std::array<item, Ring::max_stolen> older;
      for (int i = 1; i <= items; ++i)
        while (!victim.push_back(i)) {
          auto count = victim.take_half(older);
          for (std::uint32_t k = 0; k < count; ++k)
            seen.see(older[k]);
          if (count == 0) { // a thief is at it
            seen.see(i);
            break;
          }
        }
    });
    r.thread("thief", [&] { rob(victim, loot, seen, 2); });
    r.go();
    drain(victim, seen);
    seen.expect_all();
  };
}

/// A thief is robbed of its loot.
template <class Ring>
scenario chain() {
  return [](run& r) {
    constexpr int items = 4;
    std::array<Ring, 3> rings;
    tally<items> seen;
    r.thread("owner", [&] { own(rings[0], seen, items); });
    for (std::size_t t = 1; t < 3; ++t)
      r.thread("thief " + std::to_string(t), [&, t] {
        item out;
        if (rings[t - 1].steal_into(rings[t], out).count > 0)
          seen.see(out);
        if (rings[t].pop_front(out))
          seen.see(out);
      });
    r.go();
    for (auto& each : rings)
      drain(each, seen);
    seen.expect_all();
  };
}

/// Whoever announces that it sleeps and then looks at a ring, and whoever fills
/// the ring and then looks for sleepers: one of them must see the other.
template <class Ring>
scenario last_look(int earlier) {
  return [=](run& r) {
    Ring mine;
    atomic<int> sleeps;
    bool owner_saw = false;
    bool sleeper_saw = false;
    r.thread("owner", [&] {
      item out;
      for (int i = 0; i < earlier; ++i) {
        mine.push_back(i);
        mine.pop_front(out);
      }
      mine.push_back(earlier);
      owner_saw = sleeps.load(std::memory_order_seq_cst) != 0;
    });
    r.thread("sleeper", [&] {
      sleeps.store(1, std::memory_order_seq_cst);
      sleeper_saw = !mine.empty();
    });
    r.go();
    check(owner_saw || sleeper_saw, "an item waits beside a sleeper");
  };
}

} // namespace

TEST_CASE("run queue: an owner and thieves share its items") {
  verify("run queue of 2, a thief", thieves<ring<2>, 5>(1, 3));
  verify("run queue of 4, a thief", thieves<ring<4>, 6>(1, 3));
  verify("run queue of 2, two thieves", thieves<ring<2>, 4>(2, 2));
  verify("run queue of 4, two thieves", thieves<ring<4>, 6>(2, 2), {.anomalies = 0});
  CHECK(lost_thefts > 0); // a thief that meets another one is told so
}

TEST_CASE("run queue: positions wrap at 2^32") {
  verify("run queue of 2 near the wrap, a thief", thieves<ring<2, near_wrap>, 5>(1, 3));
  verify("run queue of 4 near the wrap, two thieves", thieves<ring<4, near_wrap>, 6>(2, 2),
         {.anomalies = 0});
  verify("run queue of 4 near the wrap overflows", overflow<ring<4, near_wrap>>());
}

TEST_CASE("run queue: an owner makes room while a thief is at work") {
  verify("run queue of 2 overflows", overflow<ring<2>>());
  verify("run queue of 4 overflows", overflow<ring<4>>());
}

TEST_CASE("run queue: loot is stolen on") {
  verify("run queue of 2, a chain of thieves", chain<ring<2>>());
  verify("run queue of 4, a chain of thieves", chain<ring<4>>());
}

TEST_CASE("run queue: a look before sleep does not miss an item") {
  verify("run queue, last look", last_look<ring<2>>(0));
  verify("run queue, last look after much", last_look<ring<2>>(3));
  verify("run queue, last look after much, near the wrap", last_look<ring<2, near_wrap>>(3));
}
