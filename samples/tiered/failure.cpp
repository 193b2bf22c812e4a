#include "failure.hpp"

namespace tiered {

const char* describe(fault f) noexcept {
  switch (f) {
  case fault::none:
    return "no error";
  case fault::overflow:
    return "integer overflow: the result does not fit into 64 bits; compute with float";
  case fault::division_by_zero:
    return "integer division by zero; test the divisor, or divide floats";
  case fault::not_an_integer:
    return "int() of a number that no 64-bit integer is near; test its range first";
  case fault::shift_out_of_range:
    return "shift by a count that is not in 0..63";
  case fault::recursion_too_deep:
    return "recursion too deep; does it end? Raise --stack if it does";
  case fault::too_many_calls:
    return "too many calls for one request; does it end? Raise --calls if it does";
  case fault::interrupted:
    return "interrupted";
  }
  return "unknown error";
}

std::string at(position where, const std::string& text) {
  return std::to_string(where.line) + ":" + std::to_string(where.column) + ": " + text;
}

} // namespace tiered
