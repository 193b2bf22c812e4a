#include "child.hpp"

#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace basal::bench {

child_run run_in_child(const std::string& program, const std::string& scheduler, int workers,
                       std::int64_t size, bool warmed_up) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto command = "'" + (folder / "actor_program").string() + "' " + program + ' ' + scheduler
                       + ' ' + std::to_string(workers) + ' ' + std::to_string(size)
                       + (warmed_up ? " 1" : " 0");
  std::FILE* output = popen(command.c_str(), "r");
  if (output == nullptr)
    throw std::runtime_error("cannot start a process");
  child_run measured;
  const int values
    = std::fscanf(output, "%lf %lf %lf", &measured.wall_ns, &measured.cpu_ns, &measured.peak_kb);
  if (pclose(output) != 0 || values != 3)
    throw std::runtime_error("failed: " + command);
  return measured;
}

} // namespace basal::bench
