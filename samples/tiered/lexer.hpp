#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"

namespace tiered {

struct token {
  enum class kind : std::uint8_t {
    name,
    keyword, ///< let, fn, if, then, else
    integer, ///< digits
    real,    ///< digits with a point or an exponent
    symbol,  ///< operator or bracket, of one or two characters
    end,     ///< of the text; `text` is empty
  };

  kind is = kind::end;
  std::string_view text; ///< part of the source
  position where;
};

/// Cuts a source text into tokens; the last one is the end. Comments reach from `#` to the end of
/// their line. The tokens refer to `source`.
/// @throws source_error for characters that begin no token, and malformed numbers
[[nodiscard]] std::vector<token> tokenise(std::string_view source);

/// The token as messages name it: `'+'`, or `the end of the text`.
[[nodiscard]] std::string shown(const token& t);

} // namespace tiered
