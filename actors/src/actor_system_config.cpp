#include <basal/actors/actor_system_config.hpp>

#include "option_table.hpp"
#include "settings.hpp"

#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/errors.hpp>
#include <basal/actors/monitor.hpp>
#include <basal/actors/options.hpp>
#include <basal/actors/stats.hpp>

#include <caf/sec.hpp>

#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace basal {

namespace {

std::string render_error(std::uint8_t code, caf::atom_value, const caf::message& context) {
  std::string text{to_string(static_cast<actors::errc>(code))};
  if (context.match_elements<std::string>())
    text += ": " + context.get_as<std::string>(0);
  return text;
}

// CAF's name of an option of ours, and that option.
const std::string threads = "scheduler.max-threads";
const std::string count_key = "message-executors";
const std::string count = "basal." + count_key;

bool holds(const caf::settings& all, const std::string& name) {
  return caf::get_if(&all, name) != nullptr;
}

caf::error checked(const actor_system_config& cfg) {
  try {
    actors::read_options(cfg);
  } catch (const std::invalid_argument& invalid) {
    return caf::make_error(caf::sec::invalid_argument, std::string{invalid.what()});
  }
  return caf::none;
}

void remove(caf::settings& group, const std::string& name) {
  if (const auto at = group.find(name); at != group.end())
    group.container().erase(at);
}

// Of two names for one thing, the other one was written later.
void forget_executors(caf::settings& content) {
  if (holds(content, count))
    remove(content["basal"].as_dictionary(), count_key);
}

std::vector<std::string> arguments(int argc, char** argv) {
  return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>{};
}

} // namespace

void actors::detail::prepare(caf::actor_system_config& cfg, caf::config_option_set& known) {
  cfg.load<scheduler>();
  cfg.add_message_type<executors::executor_stats>("basal::executors::executor_stats");
  cfg.add_message_type<posse::posse_stats>("basal::posse::posse_stats");
  cfg.add_message_type<overrun_stats>("basal::actors::overrun_stats");
  cfg.add_message_type<system_stats>("basal::actors::system_stats");
  cfg.add_message_type<stats_subscriber>("basal::actors::stats_subscriber");
  cfg.add_error_category(errc_category, render_error);
  add_options(known);
}

actor_system_config::actor_system_config() {
  actors::detail::prepare(*this, custom_options_);
}

// CAF's parse writes the file and then the command line, and prints what there is to print. So it
// is called twice, and the environment written in between.
caf::error actor_system_config::parse(string_list args, std::istream& ini) {
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
  if (auto problem = super::parse({}, readable ? file : ini))
    return problem;
  for (const auto& [group, held] : in_file)
    for (const auto& [key, value] : caf::get<caf::settings>(held))
      caf::put(content, group + "." + key, value); // as the option needs it, see settings.hpp
  if (holds(in_file, threads) && !holds(in_file, count))
    forget_executors(content);
  try {
    write_environment(on_command_line);
  } catch (const std::invalid_argument& invalid) {
    if (!refused)
      refused = caf::make_error(caf::sec::invalid_argument, std::string{invalid.what()});
  }
  if (holds(on_command_line, threads) && !holds(on_command_line, count))
    forget_executors(content);
  std::istringstream nothing;
  auto problem = super::parse(std::move(args), nothing);
  if (cli_helptext_printed) {
    if (caf::get_or(content, "help", false) && !caf::get_or(content, "long-help", false))
      std::cout << actors::help_text() << "--long-help lists those of adaptive handlers, too.\n";
    return problem;
  }
  if (refused)
    return refused;
  if (problem)
    return problem;
  return checked(*this);
}

void actor_system_config::write_environment(const caf::settings& on_command_line) {
  for (const auto& option : actors::all_options()) {
    const auto name = "basal." + option.name;
    // A wrong value does no harm where the command line has another one.
    if (holds(on_command_line, name) || (name == count && holds(on_command_line, threads)))
      continue;
    const auto given = actors::find_in_environment(name);
    if (!given.value)
      continue;
    actors::scheduler_options ignored;
    actors::store(option, *given.value, given.where, ignored);
    caf::put(content, name, *given.value);
  }
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
  if (name == threads)
    forget_executors(content);
  actors::read_options(*this);
  return true;
}

caf::settings actor_system_config::dump_content() const {
  auto result = super::dump_content();
  result.container().erase(result.find("work-stealing"));
  auto& scheduler = result["scheduler"].as_dictionary();
  for (const auto* unused : {"enable-profiling", "profiling-resolution", "profiling-output-file"})
    remove(scheduler, unused);
  // In CAF only `testing` means something to us.
  const auto testing = caf::atom("testing");
  const auto policy = caf::get_or(content, "scheduler.policy", caf::atom("basal"));
  caf::put(result, "scheduler.policy", policy == testing ? testing : caf::atom("basal"));
  try {
    const auto options = actors::read_options(*this);
    caf::put(result, threads, options.message_executors);
    for (const auto& option : actors::all_options())
      caf::put(result, "basal." + option.name, actors::show(option, options));
  } catch (const std::invalid_argument&) {
    // Shown as it was given; parse() tells what is wrong with it.
  }
  return result;
}

} // namespace basal
