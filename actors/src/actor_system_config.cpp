#include <basal/actors/actor_system_config.hpp>

#include <basal/actors/knob_options.hpp>
#include <basal/actors/options.hpp>
#include <basal/actors/scheduler.hpp>
#include <basal/actors/solver_service_messages.hpp>
#include <basal/actors/stats.hpp>

#include <caf/sec.hpp>
#include <caf/timespan.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
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
template <class Source>
caf::error actor_system_config::parse_from(string_list args, Source&& source) {
  const auto set_by_program = content;
  if (auto problem = super::parse(args, source))
    return problem;
  caf::settings on_command_line;
  custom_options_.parse(on_command_line, args);
  for (const auto* name : actors::option_names) {
    const auto option = std::string{"basal."} + name;
    if (caf::get_if(&on_command_line, option) != nullptr)
      continue;
    if (const auto* value = caf::get_if(&set_by_program, option))
      caf::put(content, option, *value);
    else if (std::getenv(actors::environment_variable(name).c_str()) != nullptr)
      remove(content["basal"].as_dictionary(), name);
  }
  return checked(*this);
}

caf::error actor_system_config::parse(string_list args, std::istream& ini) {
  return parse_from(std::move(args), ini);
}

caf::error actor_system_config::parse(string_list args, const char* ini_file_cstr) {
  return parse_from(std::move(args), ini_file_cstr);
}

caf::error actor_system_config::parse(int argc, char** argv, std::istream& ini) {
  return parse_from(arguments(argc, argv), ini);
}

caf::error actor_system_config::parse(int argc, char** argv, const char* ini_file_cstr) {
  return parse_from(arguments(argc, argv), ini_file_cstr);
}

void actor_system_config::check() const {
  actors::read_options(*this);
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
