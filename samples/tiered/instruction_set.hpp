#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "operation.hpp"
#include "syntax.hpp"

namespace tiered {

// Registers are the variables of the active call and, behind them, what is being kept of it. `rA`
// is the register with the number in field a, `kC` the constant with that in c.
//
// Of each operation OP:
//   OP        rA = rB OP rC
//   OP_k      rA = rB OP kC              (fused; comparisons and arithmetic)
//   unless_OP go on at c, unless rA OP rB  (fused; comparisons)
//   unless_OP_k                          the same with constant kB

#define TIERED_PLAIN(name) name,
#define TIERED_WITH_CONSTANT(name) name##_k,
#define TIERED_UNLESS(name) unless_##name, unless_##name##_k,

/// The operation of an instruction.
enum class opcode : std::uint16_t {
  TIERED_COMPARISONS(TIERED_PLAIN) TIERED_ARITHMETIC(TIERED_PLAIN) TIERED_UNARY(TIERED_PLAIN)
    TIERED_COMPARISONS(TIERED_WITH_CONSTANT) TIERED_ARITHMETIC(TIERED_WITH_CONSTANT)
      TIERED_COMPARISONS(TIERED_UNLESS)

        constant, ///< rA = kC
  move,           ///< rA = rB
  jump,           ///< go on at c
  unless,         ///< go on at c, unless rA is not 0
  call,           ///< call function c, with the registers from rA as its first; the result is rA
  charge,         ///< a call that was inlined: constant kC is its weight
  give_back,      ///< return rA
  give_back_k,    ///< return kC (fused)
  muladd_d,       ///< rA = rA + rB * rC, rounded twice (fused)
};

#undef TIERED_PLAIN
#undef TIERED_WITH_CONSTANT
#undef TIERED_UNLESS

/// One instruction.
struct instruction {
  opcode what{};
  std::uint16_t a = 0;
  std::uint16_t b = 0;
  std::uint16_t c = 0;
};
static_assert(sizeof(instruction) == 8);

/// A function as instructions.
struct bytecode_function {
  std::vector<instruction> instructions;
  std::vector<position> places; ///< of each instruction, for faults
  std::vector<value> constants;
  std::uint32_t registers = 0;
  std::int64_t weight = 0; ///< function::weight
};

/// The instructions of one function.
/// @param fused whether the fused ones may be used
/// @throws std::runtime_error see make_bytecode()
[[nodiscard]] bytecode_function assemble(const function& f, bool fused);

} // namespace tiered
