// Counts of actors under controlled schedules: a reader keeps no number of an actor that
// has given its place to another one, and a note of when an actor was woken is that actor's.

#include "busiest.hpp"
#include "delay_probes.hpp"

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

#include <cstdint>

using namespace basal::actors;
using basal::interleave::atomic;
using basal::interleave::check;
using basal::interleave::run;
using basal::interleave::verify;

namespace {

struct two_numbers {
  static constexpr std::size_t count = 2;

  atomic<std::uint64_t> first;
  atomic<std::uint64_t> second;

  template <class Visit>
  void for_each(Visit visit) {
    visit(first);
    visit(second);
  }

  void set(std::uint64_t n) {
    for_each([n](auto& number) { number.store(n, std::memory_order_release); });
  }
};

using one_place = basic_busiest<atomic, 1, two_numbers>;

void two_follow_each_other(run& r) {
  one_place places;
  places.charge(1, 10, 1, 0)->set(100);
  r.thread("executor", [&] { places.charge(2, 20, 1, 0)->set(200); });
  r.thread("reader", [&] {
    places.for_each([](std::uint64_t id, std::uint64_t type, const one_place::numbers& numbers) {
      check(type == 10 * id, "has the type of another one: actor", static_cast<int>(id));
      for (const auto n : numbers)
        check(n == 100 * id || (n == 0 && id == 2), "has a number of another one: actor",
              static_cast<int>(id));
    });
  });
  r.go();
}

void one_slot_for_two(run& r) {
  basic_delay_probes<atomic, 1> notes;
  const char jobs[2] = {};
  atomic<bool> queued;
  notes.place(&jobs[0], 10, 0);
  r.thread("runner of the first", [&] {
    const auto since = notes.take(&jobs[0]);
    check(!since || *since == 10, "the first one has the time of another");
  });
  r.thread("waker of the second", [&] {
    notes.place(&jobs[1], 30, 20);
    queued.store(true, std::memory_order_release);
  });
  r.thread("runner of the second", [&] {
    if (!queued.load(std::memory_order_acquire))
      return;
    const bool any = notes.any();
    const auto since = notes.take(&jobs[1]);
    check(!since || *since == 30, "the second one has the time of another");
    check(any || !since, "there is a note, and none is counted");
  });
  r.go();
}

} // namespace

TEST_CASE("a reader keeps no number of an actor that has lost its place") {
  verify("one actor follows another", two_follow_each_other);
}

TEST_CASE("a note is of the actor that takes it") {
  verify("two actors, one slot", one_slot_for_two);
}
