// Numbers in messages, with few digits.
#pragma once

#include <cstdio>
#include <string>

namespace basal::solver::detail {

inline std::string number_text(double x, int digits = 3) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, x);
  return text;
}

} // namespace basal::solver::detail
