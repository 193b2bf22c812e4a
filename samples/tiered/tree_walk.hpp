#pragma once

#include <cstdint>
#include <memory>

#include "code.hpp"

namespace tiered {

/// Tier 0: walks the function's tree as the parser made it. All tiers must compute the same.
/// @param p outlives the code
[[nodiscard]] std::unique_ptr<const code> make_tree_walk(const program& p, std::uint32_t function);

} // namespace tiered
