// A child of fork() has the memory of its parent's pools, and none of their threads.

#include <basal/executors/executors.hpp>

#include "closure_task.hpp"
#include "support/catch.hpp"
#include "support/in_child.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace basal::executors;
using basal::test::in_child;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

bool runs(executor_pool& pool) {
  completion done;
  return pool.submit(task::make([&](executor&) { done.set(); })) && (done.wait(), true);
}

/// Output of a program in which a task calls fork() and `then` in the child, with a second task
/// behind it in the queue.
std::string said_after_fork_in_task(auto then) {
  auto [said, signal] = in_child([&] {
    executor_pool pool{{.name = "e", .executors = 1}};
    completion second;
    auto first = task::make([&](executor& self) {
      std::ignore = pool.submit(task::make([&](executor&) {
        std::fputs("second task ran; ", stderr);
        second.set();
      }));
      const auto child = fork();
      if (child == 0) {
        alarm(20); // ends a child that waits for nobody
        then(self);
        return;
      }
      int status = 0;
      waitpid(child, &status, 0);
      const bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
      std::fputs(aborted ? "child aborted; " : "child did not abort; ", stderr);
    });
    std::ignore = pool.submit(first);
    second.wait();
  });
  CHECK(signal == 0);
  return said;
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

TEST_CASE("a child that goes on with the task that called fork() ends with a sentence") {
  const auto how = GENERATE(0, 1, 2, 3);
  const auto said = said_after_fork_in_task([how](executor& self) {
    if (how == 0)
      return;
    if (how == 1)
      self.yield();
    if (how == 2)
      completion{}.wait();
    if (how == 3)
      std::ignore = self.suspend([](fiber&) noexcept { std::fputs("published; ", stderr); });
    _exit(0);
  });
  CHECK_THAT(
    said, ContainsSubstring("executor \"e0\" called fork(), and in the child it returns or waits"));
  CHECK_THAT(said, ContainsSubstring("call exec() or _exit() in the child"));
  CHECK(said.ends_with("child aborted; second task ran; ")); // once, in the parent
  CHECK(said.find("published") == said.npos);
  CHECK(said.find("second task ran") == said.rfind("second task ran"));
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
#else
TEST_CASE("a child of fork() does not go on under these sanitizers") {
  SUCCEED("nothing to test");
}
#endif
