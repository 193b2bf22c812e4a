// The lock of a part of the wait graph under controlled schedules: one at a time is inside, sees
// what those before it wrote, and of two who add something each, one sees the other.

#include "support/interleave/contracts.hpp"

#include "counted_lock.hpp"

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

using namespace basal::actors;
using basal::interleave::atomic;
using basal::interleave::check;
using basal::interleave::plain;
using basal::interleave::run;
using basal::interleave::verify;

namespace {

using lock_type = basic_counted_lock<atomic>;

void one_at_a_time(run& r) {
  lock_type lock;
  plain<int> guarded = 0;
  for (const auto* name : {"first", "second"})
    r.thread(name, [&] {
      for (int i = 0; i < 2; ++i)
        if (lock.try_lock()) {
          guarded = guarded + 1;
          lock.unlock();
        }
    });
  r.go();
}

void each_adds_and_looks(run& r) {
  lock_type locks[2];
  plain<int> edges[2] = {0, 0};
  bool misses[2] = {false, false};
  for (int self : {0, 1})
    r.thread(self == 0 ? "first" : "second", [&, self] {
      locks[self].lock_adding();
      edges[self] = 1;
      locks[self].unlock();
      auto& other = locks[1 - self];
      misses[self] = other.is_empty();
      if (!misses[self] && other.try_lock()) {
        check(edges[1 - self] == 1, "is counted, and is not there");
        other.unlock();
      }
    });
  r.go();
  check(!misses[0] || !misses[1], "neither of two sees the other");
}

void one_goes_while_another_looks(run& r) {
  lock_type lock;
  plain<int> edges = 1;
  lock.lock_adding();
  lock.unlock();
  r.thread("goes", [&] {
    if (!lock.try_lock())
      return;
    edges = 0;
    lock.unlock_removing();
  });
  r.thread("looks", [&] {
    if (lock.is_empty() || !lock.try_lock())
      return;
    const int there = edges;
    lock.unlock();
    check(there == 1 || lock.is_empty(), "has gone, and is counted");
  });
  r.go();
}

} // namespace

TEST_CASE("a counted lock lets one thread in at a time") {
  verify("one at a time", one_at_a_time);
}

TEST_CASE("of two threads that add something and look for the other's, one sees it") {
  verify("each adds and looks", each_adds_and_looks);
}

TEST_CASE("what has been removed under a counted lock is not counted") {
  verify("one goes while another looks", one_goes_while_another_looks);
}
