#include "settings.hpp"

#include <basal/actors/options.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/config_option.hpp>
#include <caf/config_option_adder.hpp>
#include <caf/config_option_set.hpp>
#include <caf/settings.hpp>
#include <caf/timespan.hpp>

#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace basal::actors {

namespace {

constexpr std::string_view prefix = "basal.";

std::string expected_of(const caf::config_option& option) {
  const auto type = option.type_name();
  if (type == "timespan")
    return "a duration with its unit, such as 200us or 10s, of at most 292 years";
  if (type == "boolean")
    return "true or false";
  if (type == "string")
    return "a text in double quotes";
  return type == "real64" ? "a number" : "a whole number from 0";
}

[[noreturn]] void refuse(const caf::config_option& option, const std::string& where,
                         const std::string& value, const char* source) {
  throw std::invalid_argument(where + " is " + value + source + ", must be " + expected_of(option));
}

[[noreturn]] void refuse_unknown(const std::string& name, const char* source) {
  throw std::invalid_argument("there is no option " + name + ", which is set"
                              + (*source == '\0' ? " in the program" : source)
                              + "; --long-help lists those there are");
}

/// How long is "10s"? CAF multiplies without looking.
struct duration_text {
  caf::timespan wrapped{0}; ///< as CAF computes it
  bool overflows = false;
};

duration_text read_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> units{{
    {"ns", 1},
    {"us", 1'000},
    {"ms", 1'000'000},
    {"min", 60'000'000'000},
    {"s", 1'000'000'000},
    {"h", 3'600'000'000'000},
  }};
  std::int64_t count = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc{})
    return {}; // CAF notices numbers that are too long
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  for (const auto& [unit, nanoseconds] : units)
    if (text.starts_with(unit)) {
      std::int64_t product = 0;
      const bool overflows = __builtin_mul_overflow(count, nanoseconds, &product);
      return {caf::timespan{product}, overflows};
    }
  return {};
}

std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  return text;
}

/// The text of "key = value" in a file whose value has become `wrapped` by an overflow, or nothing.
/// CAF's parser hands out the value alone; that another group's text has the same name and
/// overflows to the same value does not matter.
std::string overflow_in(std::string_view file, std::string_view key, caf::timespan wrapped) {
  for (auto at = file.find(key); at != std::string_view::npos; at = file.find(key, at + 1)) {
    auto rest = skip_blanks(file.substr(at + key.size()));
    if (!rest.starts_with('='))
      continue;
    rest = skip_blanks(rest.substr(1));
    if (const auto found = read_duration(rest); found.overflows && found.wrapped == wrapped)
      return std::string{rest.substr(0, rest.find_first_of(" \t\r\n,;}"))};
  }
  return {};
}

} // namespace

const caf::config_option_set& our_options() {
  static const auto result = [] {
    caf::config_option_set options;
    add_options(options);
    caf::config_option_adder{options, "scheduler"}
      .add<std::size_t>("max-threads", "")
      .add<std::size_t>("max-throughput", "");
    return options;
  }();
  return result;
}

bool is_ours(const std::string& name) {
  return name.starts_with(prefix) || our_options().qualified_name_lookup(name) != nullptr;
}

caf::config_value typed(const std::string& name, const caf::config_value& value,
                        const char* source) {
  const auto* option = our_options().qualified_name_lookup(name);
  if (option == nullptr)
    refuse_unknown(name, source);
  if (!option->check(value))
    return value;
  if (const auto* whole = caf::get_if<std::int64_t>(&value);
      whole != nullptr && option->type_name() == "real64")
    return caf::config_value{static_cast<double>(*whole)};
  refuse(*option, name, to_string(value), source);
}

caf::config_value typed(const std::string& name, const std::string& text, const std::string& where,
                        const char* source) {
  const auto* option = our_options().qualified_name_lookup(name);
  if (option == nullptr)
    refuse_unknown(name, source);
  auto parsed = option->parse(text);
  if (!parsed || (caf::holds_alternative<caf::timespan>(*parsed) && read_duration(text).overflows))
    refuse(*option, where, "'" + text + "'", source);
  return std::move(*parsed);
}

setting find_in_environment(const std::string& name) {
  auto variable = environment_variable(name.substr(prefix.size()));
  const char* text = std::getenv(variable.c_str());
  if (text == nullptr)
    return {name, std::nullopt};
  auto value = typed(name, text, variable, " in the environment");
  return {std::move(variable), std::move(value)};
}

setting find_in_program(const caf::actor_system_config& cfg, const std::string& name) {
  if (const auto* held = caf::get_if(&caf::content(cfg), name))
    return {name, typed(name, *held, "")};
  return {name, std::nullopt};
}

setting find(const caf::actor_system_config& cfg, const std::string& name) {
  auto held = find_in_program(cfg, name);
  return held.value || !name.starts_with(prefix) ? held : find_in_environment(name);
}

void check_settings(const caf::settings& all, const caf::config_option_set& others,
                    const char* source) {
  for (const auto& [name, value] : all) {
    const auto* group = caf::get_if<caf::settings>(&value);
    if (name == "basal" && group == nullptr)
      throw std::invalid_argument("basal is " + to_string(value) + source
                                  + ", must be a group of options, [basal]");
    if (name.compare(0, prefix.size(), prefix) == 0)
      refuse_unknown(name, source);
    if (group == nullptr || (name != "basal" && name != "scheduler"))
      continue;
    for (const auto& [key, held] : *group) {
      const auto full = name + "." + key;
      const bool known = our_options().qualified_name_lookup(full) != nullptr;
      if (known || (name == "basal" && others.qualified_name_lookup(full) == nullptr))
        typed(full, held, source);
    }
  }
}

caf::settings settings_in_file(const std::string& text, const caf::config_option_set& others) {
  static constexpr const char* source = " in the configuration file";
  // Without options CAF's parser keeps what it would drop.
  std::istringstream file{text};
  auto all = caf::actor_system_config::parse_config(file);
  if (!all)
    return {};
  check_settings(*all, others, source);
  caf::settings result;
  for (const auto& [name, value] : *all) {
    const auto* group = caf::get_if<caf::settings>(&value);
    if (group == nullptr)
      continue;
    for (const auto& [key, held] : *group) {
      const auto full = name + "." + key;
      const auto* option = our_options().qualified_name_lookup(full);
      if (option == nullptr)
        continue;
      if (const auto* time = caf::get_if<caf::timespan>(&held))
        if (const auto wrong = overflow_in(text, key, *time); !wrong.empty())
          refuse(*option, full, wrong, source);
      caf::put(result, full, typed(full, held, source));
    }
  }
  return result;
}

void check_argument(const std::string& argument, const caf::config_option_set& others) {
  const auto assign = argument.find('=');
  if (!argument.starts_with("--basal."))
    return;
  const auto name = argument.substr(2, assign == std::string::npos ? assign : assign - 2);
  if (our_options().qualified_name_lookup(name) == nullptr) {
    if (others.qualified_name_lookup(name) == nullptr)
      refuse_unknown(name, " on the command line");
  } else if (assign != std::string::npos) {
    typed(name, argument.substr(assign + 1), name, " on the command line");
  }
}

} // namespace basal::actors
