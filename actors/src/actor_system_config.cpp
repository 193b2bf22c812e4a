#include <basal/actors/actor_system_config.hpp>

#include "settings.hpp"

#include <basal/actors/knob_options.hpp>
#include <basal/actors/options.hpp>
#include <basal/actors/scheduler.hpp>
#include <basal/actors/solver_service_messages.hpp>
#include <basal/actors/stats.hpp>

#include <caf/sec.hpp>
#include <caf/timespan.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace basal {

namespace {

std::string render_solver_error(std::uint8_t code, caf::atom_value, const caf::message& context) {
  std::string text{to_string(static_cast<solver::errc>(code))};
  if (context.match_elements<std::string>())
    text += ": " + context.get_as<std::string>(0);
  return text;
}

caf::error checked(const actor_system_config& cfg) {
  if (cfg.cli_helptext_printed)
    return caf::none;
  try {
    actors::read_options(cfg);
  } catch (const std::invalid_argument& invalid) {
    return caf::make_error(caf::sec::invalid_argument, std::string{invalid.what()});
  }
  return caf::none;
}

void remove(caf::settings& group, const std::string& name) {
  caf::settings rest;
  for (auto& [key, value] : group)
    if (key != name)
      rest.emplace(key, std::move(value));
  group = std::move(rest);
}

std::vector<std::string> arguments(int argc, char** argv) {
  return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>{};
}

} // namespace

actor_system_config::actor_system_config() {
  load<actors::scheduler>();
  add_message_type<executors::executor_stats>("basal::executors::executor_stats");
  add_message_type<posse::posse_stats>("basal::posse::posse_stats");
  add_message_type<actors::overrun_stats>("basal::actors::overrun_stats");
  add_message_type<actors::system_stats>("basal::actors::system_stats");
  add_message_type<actors::solve_message>("basal::actors::solve_message");
  add_message_type<actors::batch_message>("basal::actors::batch_message");
  add_message_type<actors::solve_reply>("basal::actors::solve_reply");
  add_message_type<actors::batch_reply>("basal::actors::batch_reply");
  add_message_type<actors::events_message>("basal::actors::events_message");
  add_message_type<solver::solver_stats>("basal::solver::solver_stats");
  add_error_category(solver::errc_category, render_solver_error);
  actors::add_options(custom_options_);
  actors::add_knob_options(custom_options_);
}

// In CAF the file overrides what the program has set; here the command line alone does. A value
// that the environment overrides is taken out: read_options then finds the variable.
caf::error actor_system_config::parse(string_list args, std::istream& ini) {
  const auto set_by_program = content;
  caf::settings on_command_line;
  const auto end_of_options = custom_options_.parse(on_command_line, args).second;
  const bool readable = ini.good(); // CAF reports a file that is not, if it was named
  std::ostringstream text;          // to be read twice
  if (readable)
    text << ini.rdbuf();
  caf::settings in_file;
  caf::error refused;
  try {
    in_file = actors::settings_in_file(text.str(), custom_options_);
    for (auto i = args.cbegin(); i != args.cend(); ++i) {
      actors::check_argument(*i, custom_options_);
      if (i == end_of_options)
        break;
    }
  } catch (const std::invalid_argument& invalid) {
    refused = caf::make_error(caf::sec::invalid_argument, std::string{invalid.what()});
  }
  std::istringstream file{text.str()};
  auto problem = super::parse(args, readable ? file : ini);
  if (cli_helptext_printed)
    return problem;
  if (refused)
    return refused;
  if (problem)
    return problem;
  for (const auto& option : actors::our_options()) {
    if (option.category() != "basal")
      continue;
    const std::string key{option.long_name().begin(), option.long_name().end()};
    const auto name = "basal." + key;
    if (caf::get_if(&on_command_line, name) != nullptr)
      continue;
    if (const auto* value = caf::get_if(&set_by_program, name))
      caf::put(content, name, *value);
    else if (std::getenv(actors::environment_variable(key.c_str()).c_str()) != nullptr)
      remove(content["basal"].as_dictionary(), key);
    else if (const auto* held = caf::get_if(&in_file, name))
      caf::put(content, name, *held);
  }
  return checked(*this);
}

caf::error actor_system_config::parse(string_list args, const char* ini_file_cstr) {
  if (ini_file_cstr != nullptr)
    config_file_path = ini_file_cstr;
  // CAF's own look for the option is private.
  static constexpr std::string_view option = "--config-file=";
  for (const auto& each : args)
    if (each.starts_with(option)) {
      const auto* known = custom_options_.qualified_name_lookup("global.config-file");
      auto path = known->parse(each.substr(option.size()));
      if (!path)
        return std::move(path.error());
      caf::put(content, "config-file", *path); // it must exist
      config_file_path = caf::get<std::string>(*path);
      break;
    }
  std::ifstream ini{config_file_path};
  return parse(std::move(args), ini);
}

caf::error actor_system_config::parse(int argc, char** argv, std::istream& ini) {
  return parse(arguments(argc, argv), ini);
}

caf::error actor_system_config::parse(int argc, char** argv, const char* ini_file_cstr) {
  return parse(arguments(argc, argv), ini_file_cstr);
}

bool actor_system_config::set_ours(const std::string& name, const caf::config_value& value) {
  if (!actors::is_ours(name))
    return false;
  if (actors::our_options().qualified_name_lookup(name) != nullptr)
    caf::put(content, name, value); // also if it is wrong: parse will find it
  else if (custom_options_.qualified_name_lookup(name) != nullptr)
    return false; // the program's own
  caf::put(content, name, actors::typed(name, value, " in set()"));
  actors::read_options(*this);
  return true;
}

caf::settings actor_system_config::dump_content() const {
  auto result = super::dump_content();
  try {
    const auto options = actors::read_options(*this);
    auto& group = result["basal"].as_dictionary();
    caf::put_missing(group, "message-executors", options.message_executors);
    caf::put_missing(group, "compute-executors", options.compute_executors);
    caf::put_missing(group, "quantum", caf::timespan{options.quantum});
    caf::put_missing(group, "stack-bytes", options.stack_bytes);
    caf::put_missing(group, "pinning", std::string{actors::to_string(options.pin)});
    actors::put_missing_knobs(options.knobs, group);
  } catch (const std::invalid_argument&) {
    // Shown as it was given; parse() tells what is wrong with it.
  }
  return result;
}

} // namespace basal
