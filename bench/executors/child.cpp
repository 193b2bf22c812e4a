#include "child.hpp"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>
#include <stdexcept>

#include <sys/wait.h>

namespace basal::bench {

child_run run_in_child(const std::string& program, const std::string& scheduler, int workers,
                       std::int64_t size, bool warmed_up) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto command = "'" + (folder / "actor_program").string() + "' " + program + ' ' + scheduler
                       + ' ' + std::to_string(workers) + ' ' + std::to_string(size)
                       + (warmed_up ? " 1" : " 0");
  // Once is enough: that it does not end is what there is to know.
  static std::set<std::string> endless;
  const auto limit = std::to_string(child_run::seconds_at_most);
  if (endless.contains(command))
    return {.wall_ns = child_run::seconds_at_most * 1e9};
  std::FILE* output = popen(("timeout -s KILL " + limit + ' ' + command).c_str(), "r");
  if (output == nullptr)
    throw std::runtime_error("cannot start a process");
  child_run measured;
  const int values
    = std::fscanf(output, "%lf %lf %lf", &measured.wall_ns, &measured.cpu_ns, &measured.peak_kb);
  const int status = pclose(output);
  constexpr int killed = 128 + 9;
  if (scheduler != "basal" && WIFEXITED(status) && WEXITSTATUS(status) == killed) {
    std::cerr << program << " on " << scheduler << " with " << workers
              << " workers has not ended in " << limit << " s\n";
    endless.insert(command);
    return {.wall_ns = child_run::seconds_at_most * 1e9};
  }
  if (status != 0 || values != 3)
    throw std::runtime_error("failed: " + command);
  return measured;
}

} // namespace basal::bench
