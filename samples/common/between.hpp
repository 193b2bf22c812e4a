#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace samples {

/// Checks that an option is a whole number from `least` to `most`. The check has a sign even where
/// the option's variable has none, for which -1 would be a number of twenty digits.
inline CLI::Validator between(std::int64_t least, std::int64_t most) {
  return CLI::Range(least, most, std::to_string(least) + ".." + std::to_string(most));
}

} // namespace samples
