#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "machine.hpp"
#include "syntax.hpp"

namespace tiered {

/// A function that is ready to run, with all that it calls, in one of the tiers. Does not change;
/// any number of threads may run it at a time, each on its own machine.
class code {
public:
  virtual ~code() = default;

  /// @param stack_left the rest of limits::stack_bytes once this call has its own frame
  /// @returns the result, unless `m` has failed
  [[nodiscard]] virtual value run(machine& m, std::int64_t stack_left,
                                  std::span<const value> arguments) const = 0;
};

/// Tier 0 is made with the program; each further one is compiled, takes longer to make, and is
/// quicker to run.
inline constexpr std::size_t tiers = 4;

/// The name of a tier.
[[nodiscard]] const char* tier_name(std::size_t tier) noexcept;

/// Makes code for a function and all that it calls. Any thread, with 1 MiB of stack for tier 3;
/// that one also takes turns with itself, see native.hpp.
/// @param p outlives the code
/// @param tier below `tiers`
/// @throws std::runtime_error when it cannot be done, with the reason
[[nodiscard]] std::unique_ptr<const code> compile(const program& p, std::uint32_t function,
                                                  std::size_t tier);

/// Runs a function on `m`: begins, calls, and tells the outcome. NaNs come out as one and the same
/// NaN, since which of them an operation returns depends on the processor and the order of its
/// operands.
/// @param c code of `f` in any tier
/// @throws any exception of the machine's safepoint
[[nodiscard]] outcome run(const function& f, const code& c, machine& m,
                          std::span<const value> arguments, std::function<void()> safepoint = {});

} // namespace tiered
