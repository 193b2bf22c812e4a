// Values of the collected heap that come back from work that runs elsewhere, and who pays for them.
// Offloads, futures and background tasks used to keep results where the collector does not look, on
// threads that it did not know, and charged nobody.

#include "actors/adaptive_fixture.hpp"
#include "posse/gc_canaries.hpp"
#include "support/in_child.hpp"

#include <basal/actors/adaptive_map.hpp>
#include <basal/actors/offload.hpp>
#include <basal/actors/spawn_adaptive.hpp>
#include <basal/posse/gc/gc.hpp>
#include <basal/posse/pure.hpp>
#include <basal/priority/background_pool.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace adaptive_tests;
using basal::actors::adaptive_future;
using basal::actors::offload;
using basal::actors::spawn_adaptive;
using basal::posse::member;
using basal::posse::pure;
using basal::priority::background_pool;
using basal::priority::task_handle;
using caf::behavior;
using caf::event_based_actor;

namespace gc = basal::posse::gc;

namespace {

constexpr std::uint64_t id = 7;
constexpr std::uint64_t length = 200'000;

/// The result that comes back: a list, and nothing else points to its objects.
using list = gc::ptr<canaries::node>;

[[gnu::noinline]] list make_list() {
  return list{canaries::make(id, length)};
}

std::uint64_t lost(list l) {
  return canaries::lost(l.get(), id, length);
}

list pure_make(member&) {
  return make_list();
}
constexpr pure<pure_make> make_purely{"make_list"};

/// Uses the frames of this thread that the list was made in for something else.
[[gnu::noinline]] void scrub_stack() {
  std::array<std::uint64_t, 1024> words{};
  asm volatile("" : : "r"(words.data()) : "memory");
}

void collect_garbage() {
  scrub_stack();
  for (int i = 0; i < 3; ++i) {
    canaries::litter(2 * length);
    gc::collect();
  }
}

struct heap_fixture : fixture {
  heap_fixture() : fixture(1, 2) {
  }

  background_pool& background() {
    return background_pool::of(*compute());
  }

  /// Garbage and collections on the compute executors, until all that is not held is overwritten.
  void disturb() {
    for (int i = 0; i < 4; ++i)
      background().submit(collect_garbage).get();
  }

  /// Runs `body(self)` in a handler.
  void in_handler(std::function<void(event_based_actor*)> body) {
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      return {[&, me](int x) {
        body(me);
        return x;
      }};
    });
    CHECK(ask<int>(worker, 1) == 1);
  }

  /// In a handler, and on a plain thread.
  template <class Body>
  void everywhere(Body body) {
    in_handler([&](event_based_actor* me) { body(me); });
    body(self.ptr());
  }
};

} // namespace

TEST_CASE_METHOD(heap_fixture, "a list that offload() returns is kept") {
  in_handler([&](event_based_actor* me) {
    const auto l = offload(me, make_list);
    disturb();
    CHECK(lost(l) == 0);
  });
  const auto l = offload(self, make_list);
  disturb();
  CHECK(lost(l) == 0);
}

TEST_CASE_METHOD(heap_fixture,
                 "a list that pure.offload() returns is kept, and that of a call from "
                 "a plain thread") {
  in_handler([&](event_based_actor* me) {
    const auto l = make_purely.offload(me);
    disturb();
    CHECK(lost(l) == 0);
  });
  const auto l = make_purely(self);
  disturb();
  CHECK(lost(l) == 0);
}

TEST_CASE_METHOD(heap_fixture, "a list in a future is kept until somebody gets it") {
  everywhere([&](auto* me) {
    auto future = spawn_adaptive(me, make_list, always_offload);
    while (!future.is_ready())
      std::this_thread::yield();
    disturb();
    auto moved = std::make_unique<adaptive_future<list>>(std::move(future)); // to plain memory
    disturb();
    const auto l = moved->get();
    moved.reset();
    disturb();
    CHECK(lost(l) == 0);
  });
}

TEST_CASE_METHOD(heap_fixture, "whoever takes a list is known to the collector from then on") {
  // Made by a thread that is gone, taken by threads that have not seen the heap.
  std::optional<adaptive_future<list>> future;
  std::optional<task_handle<list>> task;
  const auto make_both = [&] {
    std::thread{[&] {
      future = spawn_adaptive(system, make_list, always_offload);
      task = background().submit(make_list);
    }}.join();
  };
  const auto take_both = [&] {
    const auto a = future->get();
    const auto b = task->get();
    future.reset();
    task.reset();
    std::thread{collect_garbage}.join();
    CHECK(lost(a) == 0);
    CHECK(lost(b) == 0);
  };
  make_both();
  in_handler([&](event_based_actor*) { take_both(); });
  make_both();
  std::thread{take_both}.join();
}

TEST_CASE_METHOD(heap_fixture, "a list in a background task is kept until somebody gets it") {
  everywhere([&](auto*) {
    auto task = std::make_unique<task_handle<list>>(background().submit(make_list));
    task->wait();
    disturb();
    const auto l = task->get();
    task.reset();
    disturb();
    CHECK(lost(l) == 0);
  });
}

TEST_CASE_METHOD(heap_fixture, "a list that a function holds which has not run yet is kept") {
  // The executors have other things to do until the list is in nobody's frame any more.
  std::atomic<int> busy{0};
  std::atomic<bool> go_on{false};
  std::vector<task_handle<void>> blockers;
  for (int i = 0; i < 2; ++i)
    blockers.push_back(background().submit([&] {
      ++busy;
      go_on.wait(false);
    }));
  while (busy < 2)
    std::this_thread::yield();
  std::optional<task_handle<std::uint64_t>> task;
  std::optional<adaptive_future<std::uint64_t>> future;
  std::thread{[&] {
    const auto l = make_list();
    const auto m = make_list();
    task = background().submit([l] { return lost(l); });
    future = spawn_adaptive(
      system, [m] { return lost(m); }, always_offload);
  }}.join();
  collect_garbage();
  go_on = true;
  go_on.notify_all();
  for (auto& b : blockers)
    b.get();
  CHECK(task->get() == 0);
  CHECK(future->get() == 0);
}

TEST_CASE_METHOD(heap_fixture, "results that nobody gets are freed with their handles") {
  for (int i = 0; i < 10; ++i) {
    auto dropped = spawn_adaptive(system, make_list, always_offload);
    auto forgotten = background().submit(make_list);
    auto assigned = spawn_adaptive(system, make_list, always_offload);
    assigned = spawn_adaptive(system, make_list, always_offload);
    CHECK(lost(assigned.get()) == 0);
  }
  disturb();
  if (canaries::collects) // 22 or so of 30 lists would be 150 MB
    CHECK(gc::stats().used_bytes < std::size_t{64} << 20);
}

TEST_CASE_METHOD(heap_fixture,
                 "lists that an adaptive function writes into its handler's frame are "
                 "kept") {
  in_handler([&](event_based_actor* me) {
    std::array<list, 3> lists;
    const std::array<int, 3> indices{0, 1, 2};
    basal::actors::adaptive_map(
      me, indices,
      [&](int i) {
        lists[static_cast<std::size_t>(i)] = make_list();
        collect_garbage();
      },
      always_offload);
    disturb();
    for (const auto& l : lists)
      CHECK(lost(l) == 0);
  });
}

namespace {

/// Bytes of make_list(): threads settle what they took at the end of each piece of work, so every
/// way is charged exactly.
constexpr std::size_t list_bytes = length * sizeof(canaries::node);

/// Bytes charged to an account while `body` runs in its scope.
template <class Body>
std::size_t charged(Body body) {
  gc::account pays;
  {
    const gc::charge_scope scope{pays};
    body();
  }
  return pays.bytes();
}

} // namespace

TEST_CASE_METHOD(heap_fixture, "an account is charged alike, whichever way its work goes") {
  everywhere([&](auto* me) {
    CHECK(charged(make_list) == list_bytes);
    CHECK(charged([&] { offload(me, make_list); }) == list_bytes);
    CHECK(charged([&] { make_purely(me); }) == list_bytes);
    CHECK(charged([&] { make_purely.offload(me); }) == list_bytes);
    CHECK(charged([&] { spawn_adaptive(me, make_list, always_offload).get(); }) == list_bytes);
    CHECK(charged([&] { spawn_adaptive(me, make_list, always_inline).get(); }) == list_bytes);
    CHECK(charged([&] { background().submit(make_list).get(); }) == list_bytes);
    CHECK(charged([&] {
            const std::array<int, 1> once{1};
            basal::actors::adaptive_map(
              me, once, [](int) { static_cast<void>(make_list()); }, always_offload);
          })
          == list_bytes);
  });
}

TEST_CASE_METHOD(heap_fixture, "who waits for a part is charged for what came before it, and not "
                               "for what others take in the meantime") {
  // Two handlers take turns on one executor, each with a scope of its own or none.
  gc::account pays;
  auto other = system.spawn([](event_based_actor*) -> behavior {
    return {[](int x) {
      canaries::litter(100); // less than what a thread is charged in steps
      return x;
    }};
  });
  in_handler([&](event_based_actor* me) {
    const gc::charge_scope scope{pays};
    for (int i = 0; i < 50; ++i) {
      canaries::litter(10);
      offload(me, [&] {
        caf::scoped_actor asks{system};
        asks->request(other, patience, 1).receive([](int) {}, [&](caf::error&) { CHECK(false); });
        canaries::litter(20);
      });
      canaries::litter(30);
    }
  });
  CHECK(pays.bytes() == 50 * 60 * sizeof(canaries::node));
}

TEST_CASE_METHOD(heap_fixture, "work that will not run gives its account back") {
  std::atomic<bool> go_on{false};
  {
    gc::account pays;
    const gc::charge_scope scope{pays};
    auto first = background().submit([&] { go_on.wait(false); });
    auto second = background().submit([&] { go_on.wait(false); });
    auto cancelled = background().submit(make_list);
    CHECK(cancelled.cancel());
    go_on = true;
    go_on.notify_all();
    first.get();
    second.get();
    CHECK(pays.bytes() == 0);
  }
}

#ifndef __SANITIZE_THREAD__ // which makes child processes of threads suspicious
TEST_CASE("an account that ends before its work does is reported") {
  const auto [said, signal] = basal::test::in_child([] {
    heap_fixture f;
    std::atomic<bool> never{false};
    {
      gc::account pays;
      const gc::charge_scope scope{pays};
      f.background().post({}, [&] { never.wait(false); });
    }
  });
  CHECK(signal == SIGABRT);
  CHECK_THAT(said, ContainsSubstring("a gc::account outlives the futures and tasks"));
}
#endif
