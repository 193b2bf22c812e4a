#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "code.hpp"

namespace tiered {

/// Which instructions the bytecode may use.
enum class dialect : std::uint8_t {
  plain, ///< one for each operation of the tree
  fused, ///< also such as do the work of two or three; see instruction_set.hpp
};

/// Tiers 1 and 2: instructions for a register machine, run by a loop. Calls take no stack of the
/// thread.
/// @throws std::runtime_error when a function needs more instructions, registers or constants than
///         an instruction can name
[[nodiscard]] std::unique_ptr<const code> make_bytecode(const program& p, std::uint32_t function,
                                                        dialect d);

} // namespace tiered
