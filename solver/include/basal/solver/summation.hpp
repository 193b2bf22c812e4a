/// The order in which a kernel adds up.
#pragma once

#include <cstdint>
#include <string_view>

namespace basal::solver {

/// Either order is fixed by the problem alone: it depends neither on threads, nor on alignment,
/// nor on the vector length of the CPU.
enum class summation : std::uint8_t {
  /// Fused multiply-add where the CPU has it. The same bits on every run on such a CPU.
  native,
  /// Product and sum are rounded separately: the same bits on every CPU.
  portable,
};

/// The enumerator's name.
std::string_view to_string(summation order) noexcept;

} // namespace basal::solver
