// A child of fork() has the memory of its parent's pools, and none of their threads.

#include <basal/executors/executors.hpp>

#include "closure_task.hpp"
#include "support/catch.hpp"
#include "support/in_child.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

using namespace basal::executors;
using basal::test::in_child;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

bool runs(executor_pool& pool) {
  completion done;
  return pool.submit(task::make([&](executor&) { done.set(); })) && (done.wait(), true);
}

} // namespace

TEST_CASE("a child of fork() that submits work gets an error that says why, and can end the pool") {
  auto pool = std::make_unique<executor_pool>(pool_config{.name = "parent", .executors = 2});
  auto [said, signal] = in_child([&] {
    try {
      runs(*pool);
    } catch (const std::logic_error& e) {
      std::fputs(e.what(), stderr);
    }
    pool->stop(stop_mode::drain);
    pool.reset();
    executor_pool own{{.executors = 2}};
    std::fputs(runs(own) ? "; its own pool runs" : "", stderr);
  });
  CHECK(signal == 0);
  CHECK_THAT(said, ContainsSubstring("a child of fork() has no executors of its parent's pool "
                                     "\"parent\""));
  CHECK_THAT(said, ContainsSubstring("its own pool runs"));
  CHECK(runs(*pool)); // the parent's goes on
}

TEST_CASE("a child of fork() ends cleanly where the pool is static") {
  static executor_pool pool{{.executors = 2}};
  CHECK(runs(pool));
  auto [said, signal] = in_child([] { std::exit(0); });
  CHECK(signal == 0);
  CHECK(runs(pool));
}

TEST_CASE("also if it was a task that called fork()") {
  static executor_pool pool{{.executors = 2}};
  completion done;
  int status = -1;
  REQUIRE(pool.submit(task::make([&](executor&) {
    const auto child = fork();
    if (child == 0)
      std::exit(7);
    waitpid(child, &status, 0);
    done.set();
  })));
  done.wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("programs that are started by fork() and exec(), or by posix_spawn(), run") {
  executor_pool pool{{.executors = 2}};
  CHECK(std::system("exit 3") == 3 << 8);
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 4", static_cast<char*>(nullptr));
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 4);
  CHECK(runs(pool));
}
#endif
