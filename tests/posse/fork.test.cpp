// A child of fork() has the memory of its parent's runtime, and none of its threads.

#include <basal/posse/posse.hpp>

#include "support/catch.hpp"
#include "support/in_child.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
using namespace basal::posse;
using basal::test::in_child;

namespace {

constexpr unsigned hangs_s = 20; // ends a child that waits for nobody

runtime_config two_executors() {
  runtime_config config;
  config.compute_executors = 2;
  return config;
}

int compute(runtime& rt) {
  return rt.run([](member&) { return 7; });
}

} // namespace

TEST_CASE("a child of fork() can end its parent's runtime and use one of its own") {
  auto parent = std::make_unique<runtime>(two_executors());
  CHECK(compute(*parent) == 7);
  const auto [said, signal] = in_child([&] {
    alarm(hangs_s);
    try {
      compute(*parent);
    } catch (const std::logic_error& e) {
      std::fputs(e.what(), stderr);
    }
    parent.reset(); // as at a return from main
    runtime own{two_executors()};
    std::fputs(compute(own) == 7 ? "; its own computes" : "", stderr);
  });
  CHECK(signal == 0);
  CHECK_THAT(said, ContainsSubstring("a child of fork() has no executors of its parent's pool"));
  CHECK_THAT(said, ContainsSubstring("; its own computes"));
  CHECK(compute(*parent) == 7);
}

TEST_CASE("a child of fork() may call exit() where the runtime is static") {
  static runtime rt{two_executors()};
  CHECK(compute(rt) == 7);
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(hangs_s);
    std::exit(3);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(compute(rt) == 7);
}
#else
TEST_CASE("a child of fork() does not go on under these sanitizers") {
  SUCCEED("nothing to test");
}
#endif
