// The steal stack under controlled schedules: nothing is lost, nothing comes out twice, no slot is
// read while another thread writes it.

#include "model_support.hpp"

#include <basal/executors/detail/steal_stack.hpp>

#include <array>

using namespace model;

namespace {

template <std::uint32_t Capacity>
using stack = basal::executors::steal_stack<item, Capacity, atomic>;

int lost_pops = 0; // the owner came too late for its last item, in all schedules so far

/// Pushes and pops in turn. What finds no room because a thief is at work goes elsewhere, as in
/// executor::push_bounded.
template <class Stack, int N>
void own(Stack& mine, tally<N>& seen, int items) {
  item out;
  std::array<item, Stack::max_stolen> older;
  for (int i = 1; i <= items; ++i) {
    while (!mine.push_back(i)) {
      const auto count = mine.take_half(older);
      for (std::uint32_t k = 0; k < count; ++k)
        seen.see(older[k]);
      if (count == 0) { // a thief is at it
        seen.see(i);
        break;
      }
    }
    if (i % 2 == 0) {
      if (mine.pop_back(out))
        seen.see(out);
      else
        ++lost_pops;
    }
  }
}

template <class Stack, int N>
void rob(Stack& victim, tally<N>& seen, int attempts) {
  std::array<item, Stack::max_stolen> loot;
  for (int i = 0; i < attempts; ++i) {
    const auto count = victim.take_half(loot);
    for (std::uint32_t k = 0; k < count; ++k)
      seen.see(loot[k]);
  }
}

template <class Stack, int Items>
scenario thieves(int count, int attempts) {
  return [=](run& r) {
    Stack victim;
    tally<Items> seen;
    r.thread("owner", [&] { own(victim, seen, Items); });
    for (int t = 0; t < count; ++t)
      r.thread("thief " + std::to_string(t), [&] { rob(victim, seen, attempts); });
    r.always([&] { check(victim.size() <= Stack::capacity, "more items than slots"); });
    r.go();
    item out;
    while (victim.pop_back(out))
      seen.see(out);
    seen.expect_all();
  };
}

/// Whoever announces that it sleeps and then looks at a stack, and whoever adds to it and then
/// looks for sleepers: one of them must see the other.
template <class Stack>
scenario last_look(int earlier) {
  return [=](run& r) {
    Stack mine;
    atomic<int> sleeps;
    bool owner_saw = false;
    bool sleeper_saw = false;
    r.thread("owner", [&] {
      item out;
      for (int i = 0; i < earlier; ++i) {
        mine.push_back(i);
        mine.pop_back(out);
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

TEST_CASE("steal stack: an owner and thieves share its items") {
  verify("steal stack of 2, a thief", thieves<stack<2>, 5>(1, 3));
  verify("steal stack of 4, a thief", thieves<stack<4>, 6>(1, 3));
  verify("steal stack of 2, two thieves", thieves<stack<2>, 4>(2, 2));
  verify("steal stack of 4, two thieves", thieves<stack<4>, 6>(2, 2), {.anomalies = 0});
  CHECK(lost_pops > 0); // an owner and a thief did want the same item
}

TEST_CASE("steal stack: a look before sleep does not miss an item") {
  verify("steal stack, last look", last_look<stack<2>>(0));
  verify("steal stack, last look after much", last_look<stack<2>>(3));
}
