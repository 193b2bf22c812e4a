#include "value.hpp"

#include <charconv>
#include <cmath>

namespace tiered {

std::string to_string(typed_value v) {
  if (v.of == type::integer)
    return std::to_string(v.v.i);
  if (std::isnan(v.v.d))
    return "nan";
  if (std::isinf(v.v.d))
    return v.v.d < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v.v.d).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == text.npos)
    text += ".0";
  return text;
}

} // namespace tiered
