// memory_limit and the collected heap: what a computation keeps there counts, what it drops does
// not, nor what others have there.

#include <basal/posse/gc/gc.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <string>

using namespace basal::posse;

namespace {

constexpr std::size_t mib = 1024 * 1024;

// Under ThreadSanitizer the collector never runs, so that all garbage counts.
#if defined(__SANITIZE_THREAD__)
constexpr bool collects = false;
#else
constexpr bool collects = true;
#endif

struct list_node {
  gc::ptr<list_node> next;
  long payload[7] = {};
};

[[gnu::noinline]] gc::ptr<list_node> make_list(std::size_t bytes) {
  gc::ptr<list_node> first;
  for (std::size_t made = 0; made < bytes; made += sizeof(list_node))
    first = gc::make<list_node>(first);
  return first;
}

[[gnu::noinline]] std::size_t length(gc::ptr<list_node> list) {
  std::size_t result = 0;
  for (; list != nullptr; list = list->next)
    ++result;
  return result;
}

// Nothing of it is alive at the end.
std::size_t drop(std::size_t bytes, std::size_t at_once) {
  std::size_t nodes = 0;
  for (std::size_t dropped = 0; dropped < bytes; dropped += at_once)
    nodes += length(make_list(at_once));
  return nodes;
}

std::size_t within(runtime& rt, std::size_t limit, auto body) {
  return rt.run(call_options{.memory_limit = limit}, body);
}

} // namespace

TEST_CASE("what a computation keeps in the collected heap counts towards its limit") {
  runtime rt{{.compute_executors = 1}};
  try {
    within(rt, mib, [](member&) { return length(make_list(200 * mib)); });
    FAIL("no error");
  } catch (const memory_limit_exceeded& e) {
    CHECK_THAT(e.what(), ContainsSubstring("what it keeps in the collected heap"));
    CHECK_THAT(e.what(), ContainsSubstring("1048576 bytes"));
  }
  CHECK(rt.stats().over_limit == 1);
  CHECK(rt.stats().near_limit == 1);
  CHECK(within(rt, 64 * mib, [](member&) { return length(make_list(8 * mib)); }) > 0);
}

TEST_CASE("a limit of the runtime counts it, too") {
  runtime rt{{.compute_executors = 1, .memory_limit = mib}};
  CHECK_THROWS_AS(rt.run([](member&) { return length(make_list(200 * mib)); }),
                  memory_limit_exceeded);
}

TEST_CASE("what has become garbage does not count") {
  if (!collects)
    return;
  runtime rt{{.compute_executors = 1}};
  CHECK(within(rt, 4 * mib, [](member&) { return drop(100 * mib, mib); }) > 0);
}

TEST_CASE("what was in the heap before does not count") {
  if (!collects)
    return;
  runtime rt{{.compute_executors = 1}};
  rt.run([&](member&) {
    auto others = make_list(50 * mib);
    auto nodes
      = rt.run(call_options{.memory_limit = 8 * mib}, [](member&) { return drop(40 * mib, mib); });
    return nodes + length(others);
  });
}

TEST_CASE("what stolen branches keep counts, too") {
  runtime rt{{.compute_executors = 2}};
  std::atomic<bool> stolen{false};
  CHECK_THROWS_AS(within(rt, mib,
                         [&](member& m) {
                           auto [a, b] = m.fork_merge(
                             [&](member& k) {
                               while (!stolen)
                                 k.poll();
                               return std::size_t{0};
                             },
                             [&](member&) {
                               stolen = true;
                               return length(make_list(200 * mib));
                             });
                           return a + b;
                         }),
                  memory_limit_exceeded);
  CHECK(rt.stats().thefts == 1);
}

TEST_CASE("a scope with an account of its own does not take it out of the limit") {
  runtime rt{{.compute_executors = 1}};
  gc::account all;
  CHECK_THROWS_AS(within(rt, mib,
                         [&](member&) {
                           gc::charge_scope scope{all};
                           return length(make_list(200 * mib));
                         }),
                  memory_limit_exceeded);
  CHECK(all.bytes() >= mib);
}
