#pragma once

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/executors/report.hpp>

#include <caf/actor_system.hpp>
#include <caf/exec_main.hpp>

#include <concepts>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace basal {

namespace actors::detail {

/// A program's own configuration that does not derive from ours, with our options. Its `parse` is
/// CAF's, so what is wrong with them comes out when the actor system is made.
template <class Config>
struct with_options : Config {
  with_options() {
    prepare(*this, this->custom_options_);
  }
};

template <class Config>
using config_on_basal = std::conditional_t<std::derived_from<Config, basal::actor_system_config>,
                                           Config, with_options<Config>>;

inline void complain(std::string_view problem) {
  executors::report(executors::report_level::error, "basal.actors", problem);
}

/// As CAF's exec_main, except that an actor system that cannot be made is an error with a sentence.
template <class Config, class... Modules, class Call>
int run_main(int argc, char** argv, const char* config_file_name, Call call) {
  Config cfg;
  if (const auto err = cfg.parse(argc, argv, config_file_name)) {
    complain("error while parsing CLI and file options: " + caf::actor_system_config::render(err));
    return EXIT_FAILURE;
  }
  if (cfg.cli_helptext_printed)
    return EXIT_SUCCESS;
  (cfg.template load<Modules>(), ...);
  std::optional<caf::actor_system> system;
  try {
    system.emplace(cfg);
  } catch (const std::invalid_argument& invalid) {
    complain(std::string{"error in the configuration: "} + invalid.what());
    return EXIT_FAILURE;
  }
  if (!cfg.slave_mode) {
    call(*system, cfg);
    return EXIT_SUCCESS;
  }
  if (cfg.slave_mode_fun == nullptr) {
    complain("cannot run slave mode, I/O module not loaded");
    return EXIT_FAILURE;
  }
  return cfg.slave_mode_fun(*system, cfg);
}

} // namespace actors::detail

/// As `caf::exec_main`, on basal: parses the options, loads `Modules`, makes the actor system and
/// calls `main_function(system)`.
/// @returns EXIT_FAILURE after a sentence on stderr if an option is wrong
template <class... Modules>
int exec_main(void (*main_function)(caf::actor_system&), int argc, char** argv,
              const char* config_file_name = "caf-application.ini") {
  return actors::detail::run_main<actor_system_config, Modules...>(
    argc, argv, config_file_name,
    [&](caf::actor_system& system, const auto&) { main_function(system); });
}

/// The same for a program with a configuration of its own, `main_function(system, config)`; whether
/// that derives from `caf::actor_system_config` or from `basal::actor_system_config`.
template <class... Modules, std::derived_from<caf::actor_system_config> Config>
int exec_main(void (*main_function)(caf::actor_system&, const Config&), int argc, char** argv,
              const char* config_file_name = "caf-application.ini") {
  return actors::detail::run_main<actors::detail::config_on_basal<Config>, Modules...>(
    argc, argv, config_file_name,
    [&](caf::actor_system& system, const Config& cfg) { main_function(system, cfg); });
}

} // namespace basal

/// `CAF_MAIN` on basal: `BASAL_MAIN()`, or with CAF's network, which the program then links
/// (basal::remote, CAF::io), `BASAL_MAIN(caf::io::middleman)`.
#define BASAL_MAIN(...)                                                                            \
  int main(int argc, char** argv) {                                                                \
    return ::basal::exec_main<__VA_ARGS__>(caf_main, argc, argv);                                  \
  }

namespace caf {

// `CAF_MAIN(basal::actors::scheduler, io::middleman)` parses the command line before it loads
// modules, so that it would refuse their options. These are better matches for it than CAF's own
// function, since their first parameter is no template parameter.

template <class... Modules>
requires(std::same_as<Modules, basal::actors::scheduler> || ...) int exec_main(
  void (*main_function)(actor_system&), int argc, char** argv,
  const char* config_file_name = "caf-application.ini") {
  return basal::exec_main<Modules...>(main_function, argc, argv, config_file_name);
}

template <class... Modules, class Config>
requires(std::same_as<Modules, basal::actors::scheduler> || ...) int exec_main(
  void (*main_function)(actor_system&, const Config&), int argc, char** argv,
  const char* config_file_name = "caf-application.ini") {
  return basal::exec_main<Modules...>(main_function, argc, argv, config_file_name);
}

} // namespace caf
