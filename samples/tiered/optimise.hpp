#pragma once

#include <cstdint>

#include "syntax.hpp"

namespace tiered {

/// A program that computes the same with fewer calls and operations: constants are folded where
/// that is no fault, variables that stand for constants or other variables are replaced,
/// conditions that are known choose their branch, and calls of small functions that call nobody
/// are inlined. Faults keep their order and places; inlined calls are charged as if they were made.
/// @returns `p` with new bodies of the functions that `entry` may call, and no others
[[nodiscard]] program optimise(const program& p, std::uint32_t entry);

} // namespace tiered
