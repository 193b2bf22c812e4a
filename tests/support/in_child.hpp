#pragma once

#include "support/catch.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

namespace basal::test {

/// Threads that somebody else detached (CAF does) may be about to end. A fork in the meantime is
/// that of a program with threads, in which ThreadSanitizer starts none.
inline void await_ends_of_threads() {
#ifdef __SANITIZE_THREAD__
  constexpr int without = 2; // it has one itself
#else
  constexpr int without = 1;
#endif
  for (int ms = 0; ms < 300; ++ms) {
    const std::filesystem::directory_iterator threads{"/proc/self/task"};
    if (std::distance(begin(threads), end(threads)) <= without)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

/// Standard error of a child process that runs `body`, and the signal that ended it or 0.
std::pair<std::string, int> in_child(auto body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  await_ends_of_threads();
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Catch2's handlers would report the signal instead of letting it end us; those that a runtime
    // installs come later. Nobody wants the core.
    std::signal(SIGABRT, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    body();
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[256];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {said, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

} // namespace basal::test
