#include "merge_policy.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace codesearch {

std::optional<std::pair<std::size_t, std::size_t>>
choose_merge(std::span<const std::size_t> sizes) {
  std::vector<std::size_t> by_size(sizes.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return sizes[a] != sizes[b] ? sizes[a] < sizes[b] : a < b;
  });
  for (std::size_t i = 1; i < by_size.size(); ++i) {
    if (sizes[by_size[i]] <= 2 * sizes[by_size[i - 1]]) {
      return std::pair(by_size[i - 1], by_size[i]);
    }
  }
  return std::nullopt;
}

} // namespace codesearch
