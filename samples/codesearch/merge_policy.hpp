#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace codesearch {

/// The two segments to merge next, as indexes into their sizes (words): the smallest neighbours in
/// size of which the larger has at most twice the words of the smaller. So each word is merged a
/// logarithmic number of times, and when nothing is left to merge, the number of segments is
/// logarithmic too. Empty if there is no such pair.
[[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>>
choose_merge(std::span<const std::size_t> sizes);

} // namespace codesearch
