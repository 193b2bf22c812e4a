#pragma once

#include <cstdint>
#include <vector>

#include "syntax.hpp"

namespace tiered {

/// The functions that a call of `entry` may call, itself first, each once.
[[nodiscard]] std::vector<std::uint32_t> reachable(const program& p, std::uint32_t entry);

} // namespace tiered
