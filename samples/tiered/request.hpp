#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "syntax.hpp"
#include "value.hpp"

namespace tiered {

/// A client's request: a call of a function with numbers.
struct request {
  std::uint32_t function = 0; ///< index in its program
  std::vector<value> arguments;
};

/// Reads `NAME(NUMBER, ...)`, where numbers may have a minus.
/// @throws source_error with the place in `text`
[[nodiscard]] request parse_request(const program& p, std::string_view text);

} // namespace tiered
