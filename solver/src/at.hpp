#pragma once

/// A matrix's index as the index of a container.

#include <concepts>
#include <cstddef>

namespace basal::solver::detail {

/// The index `i`, which must not be negative, as a container's.
constexpr std::size_t at(std::signed_integral auto i) noexcept {
  return static_cast<std::size_t>(i);
}

} // namespace basal::solver::detail
