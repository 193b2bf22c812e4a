#pragma once

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codesearch/descriptor.hpp"

namespace codesearch::test {

struct program_result {
  int status = -1; ///< exit status; 128 + n if signal n ended it
  std::string out;
  std::string err;
};

/// The codesearch program under test, from the environment that CTest sets.
inline std::string codesearch_path() {
  const char* path = std::getenv("CODESEARCH");
  if (path == nullptr) {
    throw std::runtime_error("set CODESEARCH to the path of the codesearch program, or run ctest");
  }
  return path;
}

inline std::pair<descriptor, descriptor> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::system_category(), "pipe2");
  }
  return {descriptor(ends[0]), descriptor(ends[1])};
}

inline int exit_status(::pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Runs a program with pipes for its streams, gives it `input`, waits for its end.
inline program_result run(std::vector<std::string> command, std::string_view input = {}) {
  auto [in_read, in_write] = make_pipe();
  auto [out_read, out_write] = make_pipe();
  auto [err_read, err_write] = make_pipe();
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in_read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out_write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err_write.get(), STDERR_FILENO);
  std::vector<char*> argv;
  for (std::string& word : command) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  ::pid_t child = 0;
  const int error = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::system_error(error, std::system_category(), "cannot run " + command[0]);
  }
  in_read = descriptor();
  out_write = descriptor();
  err_write = descriptor();
  // Inputs here fit into a pipe, so writing them first cannot block.
  if (!input.empty()
      && ::write(in_write.get(), input.data(), input.size())
           != static_cast<::ssize_t>(input.size())) {
    throw std::system_error(errno, std::system_category(), "cannot write the input");
  }
  in_write = descriptor();

  program_result result;
  ::pollfd streams[] = {{out_read.get(), POLLIN, 0}, {err_read.get(), POLLIN, 0}};
  std::string* const texts[] = {&result.out, &result.err};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    ::poll(streams, 2, -1);
    for (int i = 0; i < 2; ++i) {
      if (streams[i].fd >= 0 && streams[i].revents != 0) {
        char buffer[65536];
        const ::ssize_t got = ::read(streams[i].fd, buffer, sizeof buffer);
        if (got > 0) {
          texts[i]->append(buffer, static_cast<std::size_t>(got));
        } else if (got == 0 || errno != EINTR) {
          streams[i].fd = -1;
        }
      }
    }
  }
  result.status = exit_status(child);
  return result;
}

/// Runs codesearch with `arguments`.
inline program_result run_codesearch(std::vector<std::string> arguments,
                                     std::string_view input = {}) {
  arguments.insert(arguments.begin(), codesearch_path());
  return run(std::move(arguments), input);
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

/// The number behind `summary NAME`; -1 if there is no such line.
inline long long summary(const program_result& r, std::string_view name) {
  const std::string start = "summary " + std::string(name) + " ";
  for (const std::string& line : lines_of(r.out)) {
    if (line.starts_with(start)) {
      return std::atoll(line.c_str() + start.size());
    }
  }
  return -1;
}

} // namespace codesearch::test
