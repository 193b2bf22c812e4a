/// A server and workers for as long as a case runs, and the peers as commands.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace basal::bench {

/// A folder of its own under /tmp, removed at the end.
class temporary_folder {
public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const noexcept {
    return path_;
  }

private:
  std::filesystem::path path_;
};

/// A process that is killed at the end, and if this one ends before.
class process {
public:
  /// @throws std::runtime_error if it cannot be started
  explicit process(const std::vector<std::string>& command);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  process(process&& other) noexcept : id_(other.id_) {
    other.id_ = -1;
  }
  process& operator=(process&&) = delete;

private:
  pid_t id_;
};

/// nats-server with JetStream on a free loopback port, and workers of one executor each.
class local_cluster {
public:
  explicit local_cluster(int workers);

  /// Kills the server, and returns once it listens again, begun anew that much later.
  void restart_server(std::chrono::milliseconds after);

  const std::string& address() const noexcept {
    return address_;
  }

private:
  void start_server();

  temporary_folder folder_;
  std::string address_;
  std::optional<process> server_;
  std::vector<process> workers_;
};

/// Sum of the results in a command's NUMBER RESULT lines, and how many there are.
struct answers {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  int status = 0; ///< the command's exit status
};

answers answers_of(const std::string& command);

/// A program that stands beside this one.
std::string program(const std::string& name);

/// Whether the shell finds it.
bool is_installed(const std::string& command);

} // namespace basal::bench
