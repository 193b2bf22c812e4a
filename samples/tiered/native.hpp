#pragma once

#include <cstdint>
#include <memory>

#include "code.hpp"

namespace tiered {

/// Tier 3: machine code, made by GCC at -O2 through libgccjit. That takes tens of milliseconds, and
/// runs the assembler and the linker, which write to $TMPDIR. GCC recurses over what it compiles,
/// which took 100 KiB of stack for our programs; give it 1 MiB. It leaks some 10 KiB each time.
///
/// GCC keeps its state in global variables: one compilation runs at a time in a process. Others
/// wait for it, each of them holding its thread.
/// @throws std::runtime_error with what libgccjit says
[[nodiscard]] std::unique_ptr<const code> make_native(const program& p, std::uint32_t function);

} // namespace tiered
