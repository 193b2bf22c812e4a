#pragma once

#include <caf/config_value.hpp>
#include <caf/fwd.hpp>

#include <optional>
#include <string>

namespace basal::actors {

// Of settings of a wrong type CAF 0.17.6 says nothing in a file and only prints in set(); durations
// that overflow are wrapped. Here all of them are errors.

/// Options that read_options looks at: the group "basal" and two of the group "scheduler".
const caf::config_option_set& our_options();

/// Is it in the group "basal", or of the options above?
bool is_ours(const std::string& name);

/// The value as the option needs it; a whole number stands for a real one as well.
/// @param source " in the configuration file", or empty
/// @throws std::invalid_argument naming the option, the value, its source and what is expected
caf::config_value typed(const std::string& name, const caf::config_value& value,
                        const char* source);

/// The same for what the option `name` gets from a text.
/// @param where the option's name, or that of the environment variable
caf::config_value typed(const std::string& name, const std::string& text, const std::string& where,
                        const char* source);

/// A user's setting of an option, and its place; for messages.
struct setting {
  std::string where; ///< the option's name or the variable's
  std::optional<caf::config_value> value;
};

/// The variable that sets an option, if it is set.
/// @param name of one of ours, in the group "basal"
/// @throws std::invalid_argument as typed()
setting find_in_environment(const std::string& name);

/// The setting in the configuration.
/// @param name of one of ours, with its group
/// @throws std::invalid_argument as typed()
setting find_in_program(const caf::actor_system_config& cfg, const std::string& name);

/// The setting in the configuration, else, in the group "basal", in the environment.
/// @param name of one of ours, with its group
/// @throws std::invalid_argument as typed()
setting find(const caf::actor_system_config& cfg, const std::string& name);

/// Checks names and types of all settings that are ours. Options that a program has added to the
/// group "basal" are in `others`; their types are CAF's affair.
/// @throws std::invalid_argument as typed()
void check_settings(const caf::settings& all, const caf::config_option_set& others,
                    const char* source);

/// The settings of a file that are ours, checked, as the options need them.
/// @param text of the file; if CAF's parser does not understand it, there are none
/// @throws std::invalid_argument as typed()
caf::settings settings_in_file(const std::string& text, const caf::config_option_set& others);

/// Checks an argument of the command line, if it is "--basal.name=value" or misspelt.
/// @throws std::invalid_argument as typed()
void check_argument(const std::string& argument, const caf::config_option_set& others);

} // namespace basal::actors
