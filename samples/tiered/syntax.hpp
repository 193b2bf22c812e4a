#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "operation.hpp"
#include "value.hpp"

namespace tiered {

struct node;
using node_ptr = std::unique_ptr<node>;

/// An expression whose names and types are resolved. Which fields mean something depends on the
/// kind.
struct node {
  enum class kind : std::uint8_t {
    constant,    ///< literal
    variable,    ///< slot
    operate,     ///< what, children: one or two operands
    conditional, ///< children: condition (an integer; 0 is false), then, else
    block,       ///< children: the values of `slots`, in order, then the result
    call,        ///< callee, children: arguments
    inlined,     ///< as block, for a call of a function that weighs `weight`; after the values
                 ///< of `slots` and before the result the call is charged. Made by optimise().
  };

  kind is = kind::constant;
  operation what{};
  type of = type::integer;  ///< of the result
  position where;           ///< the operator, the name of the callee, else the first token
  std::uint32_t slot = 0;   ///< of a variable, among the function's
  std::uint32_t callee = 0; ///< index of a function
  std::uint32_t depth = 1;  ///< of this tree
  std::int64_t weight = 0;
  value literal{};
  std::vector<std::uint32_t> slots;
  std::vector<node_ptr> children;
};

struct function {
  std::string name;
  position where;
  std::vector<type> parameters; ///< they have the first slots
  type result = type::integer;
  std::uint32_t slots = 0; ///< parameters and variables
  node_ptr body;

  /// Bytes of stack that a call takes, in the language's own count: see frame_bytes().
  std::int64_t weight = 0;
};

/// A source text, understood. Does not change.
struct program {
  std::vector<function> functions;

  /// The index of a function; nothing if there is none of this name.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const noexcept;
};

/// `fn NAME(int, float): int`, for messages.
[[nodiscard]] std::string signature(const function& f);

/// Trees of expressions are not deeper than this: whoever walks them recurses.
inline constexpr std::uint32_t most_depth = 250;

/// Parameters and variables of a function, and functions of a program, at most.
inline constexpr std::uint32_t most_slots = 1000;
inline constexpr std::uint32_t most_functions = 1000;

/// Bytes of a source text, at most.
inline constexpr std::size_t most_source_bytes = 1 << 20;

/// Registers that the value of `e` takes beside the variables, itself included, when each operand
/// is kept while the next one is computed.
[[nodiscard]] std::uint32_t temporaries(const node& e) noexcept;

/// Bytes of limits::stack_bytes that a call of a function takes: an upper bound of the tree walk's
/// use of its thread's stack and of the machine's. The bound follows from the text alone, so the
/// same recursion is too deep in every tier.
[[nodiscard]] std::int64_t frame_bytes(const function& f) noexcept;

} // namespace tiered
