#include "cpu_share.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace basal::executors {

double quota_cpus(const std::string& root) {
  std::ifstream self{root + "/proc/self/cgroup"};
  std::string line;
  std::string group = "/";
  while (std::getline(self, line))
    if (line.starts_with("0::"))
      group = line.substr(3);
  auto result = std::numeric_limits<double>::infinity();
  for (;;) {
    auto path = root;
    path.append("/sys/fs/cgroup").append(group).append("/cpu.max");
    std::ifstream file{path};
    double quota = 0; // "max" is no number
    double period = 0;
    if (file >> quota >> period && period > 0)
      result = std::min(result, quota / period);
    auto parent = group.rfind('/');
    if (parent == std::string::npos)
      return result;
    group.erase(parent);
  }
}

std::size_t cpus_within(std::size_t cpus, double quota) noexcept {
  if (std::ceil(quota) < static_cast<double>(cpus))
    cpus = static_cast<std::size_t>(std::ceil(quota));
  return std::max<std::size_t>(1, cpus);
}

std::vector<unsigned> in_order(pinning order, std::vector<cpu_place> places) {
  if (order == pinning::spread)
    std::stable_sort(places.begin(), places.end(),
                     [](const cpu_place& a, const cpu_place& b) { return a.thread < b.thread; });
  std::vector<unsigned> result;
  result.reserve(places.size());
  for (const auto& one : places)
    result.push_back(one.cpu);
  return result;
}

} // namespace basal::executors
