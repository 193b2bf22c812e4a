#include <basal/posse/effects.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"
#include "support/in_child.hpp"

#include <csignal>
#include <string>

using namespace basal::posse;
using basal::test::in_child;

namespace {

long deep(member& m, long n) {
  volatile char frame[512] = {};
  frame[n % 512] = 1;
  auto deeper = [=](member& k) { return n == 0 ? 0 : deep(k, n - 1); };
  auto [a, b] = m.fork_merge(deeper, [](member&) { return 1; });
  return a + b + frame[(n + 1) % 512];
}

constexpr pure<deep> pure_deep{"much_too_deep"};

} // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

[[gnu::noinline]] long leaf(member& m, long n) {
  volatile char frame[512] = {};
  frame[n % 512] = 1;
  return n == 0 ? 0 : leaf(m, n - 1) + frame[(n + 1) % 512];
}

constexpr pure<leaf> pure_leaf{"deep_leaf"};

[[gnu::noinline]] long far_write(member& m, long n) {
  volatile char frame[724 * 1024];
  frame[0] = 1;
  const long rest = n == 0 ? 0 : far_write(m, n - 1);
  asm volatile("" : : "r"(frame) : "memory"); // the frame is there until the calls have returned
  return rest + frame[0];
}

constexpr pure<far_write> pure_far_write{"far_write"};

std::string asks(member&) {
  return running_pure_function();
}

constexpr pure<asks> pure_asks{"asks"};

} // namespace

TEST_CASE("an overflow without forks is reported with the function, the size and the remedy") {
  auto [said, signal] = in_child([] {
    runtime rt{{.compute_executors = 1, .stack_bytes = 128 * 1024}};
    pure_leaf(rt, 1'000'000);
  });
  CHECK(signal == SIGSEGV);
  CHECK_THAT(said, ContainsSubstring("stack overflow on executor basal.call0"));
  CHECK_THAT(said, ContainsSubstring("deep_leaf used all of its 131072 bytes"));
  CHECK_THAT(said, ContainsSubstring("--basal.stack-bytes"));
}

TEST_CASE("a frame of 724 KiB of which one byte is touched does not step over the guard") {
  auto [said, signal] = in_child([] {
    runtime rt{{.compute_executors = 2}};
    pure_far_write(rt, 1'000'000);
  });
  CHECK(signal == SIGSEGV);
  CHECK_THAT(said, ContainsSubstring("stack overflow on executor basal.call0"));
  CHECK_THAT(said, ContainsSubstring("far_write used all of its 8388608 bytes"));
}

TEST_CASE("an effect inside a pure function is reported with its name") {
  runtime rt{{.compute_executors = 1}};
  CHECK(running_pure_function() == nullptr);
  CHECK(pure_asks(rt) == "asks");
  CHECK(rt.run([](member&) { return std::string{running_pure_function()}; }) == "a computation");
  auto [said, signal] = in_child([] {
    std::signal(SIGABRT, SIG_DFL);
    runtime other{{.compute_executors = 1}};
    other.run([](member&) { refuse_effect("sends a message"); });
  });
  CHECK(signal == SIGABRT);
  CHECK_THAT(said, ContainsSubstring("the pure function a computation sends a message"));
}

TEST_CASE("other faults are left to whoever handles them") {
  auto [said, signal] = in_child([] {
    runtime rt{{.compute_executors = 1}};
    rt.run([](member&) {
      volatile int* volatile nowhere = nullptr;
      *nowhere = 1;
    });
  });
  CHECK(signal == SIGSEGV);
  CHECK(said.empty());
}
#endif

TEST_CASE("recursion within the stack is fine") {
  runtime rt{{.compute_executors = 1}};
  CHECK(pure_deep(rt, 100) == 101);
}

// Last: a runtime of this process installs its handler before a child could reset it.
TEST_CASE("forks that are too deep are an error of their computation") {
  for (auto policy : {victim_policy::run_victim, victim_policy::suspend_victim}) {
    runtime rt{{.compute_executors = 2, .stack_bytes = 128 * 1024, .victims = policy}};
    for (int i = 0; i < 3; ++i)
      CHECK_THROWS_WITH(pure_deep(rt, 1'000'000),
                        "basal: much_too_deep recursed too deeply for its stack of 131072 bytes; "
                        "let it recurse less deeply, or give fibers larger stacks: stack_bytes in "
                        "the configuration, --basal.stack-bytes for an actor system");
    CHECK(pure_deep(rt, 50) == 51); // nothing else suffers
    CHECK(rt.stats().over_limit == 3);
    CHECK(rt.stats().deepest_stack_bytes > 64 * 1024);
  }
}
