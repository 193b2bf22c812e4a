#pragma once

#include <cstdint>
#include <memory>

#include "code.hpp"

namespace tiered {

/// Tier 0: walks the tree of the function as the parser made it. What the others must compute.
/// @param p outlives the code
[[nodiscard]] std::unique_ptr<const code> make_tree_walk(const program& p, std::uint32_t function);

} // namespace tiered
