#include "bench/support/options.hpp"

#include <cstdlib>
#include <optional>
#include <regex>
#include <string_view>

namespace basal::bench {

namespace {

double positive_number(std::string_view option, const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(value > 0 && value < 1e6))
    throw usage_error(std::string{option} + " needs a positive number, not '" + text + "'");
  return value;
}

} // namespace

options parse_options(std::span<const char* const> arguments) {
  options parsed;
  std::optional<int> repetitions;
  std::optional<double> min_time_s;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view option = arguments[i];
    const auto value = [&] {
      if (i + 1 == arguments.size())
        throw usage_error(std::string{option} + " needs a value");
      return arguments[++i];
    };
    if (option == "--quick") {
      parsed.quick = true;
    } else if (option == "--list") {
      parsed.list = true;
    } else if (option == "--help" || option == "-h") {
      parsed.help = true;
    } else if (option == "--json") {
      parsed.json = value();
    } else if (option == "--filter") {
      parsed.filter = value();
      try {
        const std::regex compiles{parsed.filter};
      } catch (const std::regex_error& e) {
        throw usage_error("--filter: '" + parsed.filter
                          + "' is no regular expression: " + e.what());
      }
    } else if (option == "--repetitions") {
      const double count = positive_number(option, value());
      if (count != static_cast<int>(count))
        throw usage_error("--repetitions needs a whole number");
      repetitions = static_cast<int>(count);
    } else if (option == "--min-time") {
      min_time_s = positive_number(option, value());
    } else {
      throw usage_error("unknown option '" + std::string{option} + "'");
    }
  }
  // Five is the fewest whose median survives two disturbed repetitions.
  parsed.repetitions = repetitions.value_or(parsed.quick ? 5 : parsed.repetitions);
  parsed.min_time_s = min_time_s.value_or(parsed.quick ? 0.05 : parsed.min_time_s);
  return parsed;
}

} // namespace basal::bench
