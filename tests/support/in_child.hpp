#pragma once

#include "support/catch.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>

namespace basal::test {

/// What a child process that runs `body` says on stderr, and the signal that ended it or 0.
std::pair<std::string, int> in_child(auto body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
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
