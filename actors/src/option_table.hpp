#pragma once

#include <basal/actors/options.hpp>

#include <caf/config_value.hpp>
#include <caf/timespan.hpp>

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace basal::actors {

/// How an option reads and writes its field of scheduler_options, and the range of its values.
template <class T>
struct field {
  std::function<T(const scheduler_options&)> get;
  std::function<void(scheduler_options&, T)> set;
  T least;
  T most;
  std::string unit; ///< with a blank before it, or empty
};

/// The field of an enum, by the names of its values.
struct choice {
  std::function<std::size_t(const scheduler_options&)> get;
  std::function<void(scheduler_options&, std::size_t)> set;
  std::vector<std::string> names;
};

/// Any text.
struct words {
  std::function<std::string(const scheduler_options&)> get;
  std::function<void(scheduler_options&, std::string)> set;
};

struct flag {
  std::function<bool(const scheduler_options&)> get;
  std::function<void(scheduler_options&, bool)> set;
};

/// One option of the group "basal". Command line, environment, file, checks, help, dump and the
/// table of docs/options.md are derived from it.
struct option {
  std::string name; ///< as in --basal.stack-bytes
  std::string help; ///< one line
  std::variant<field<std::size_t>, field<caf::timespan>, field<double>, choice, words, flag> value;
  std::string by_default = {}; ///< in words, where the value of a default field does not tell
};

/// The help with the default.
std::string described(const option& x);

/// All of them; made once.
const std::vector<option>& all_options();

/// Whether an option is about adaptive handlers.
bool is_of_adaptive_handlers(const option& x);

/// Writes a value, of the type that the option has in CAF, into its field.
/// @param where the option's name or that of the environment variable
/// @throws std::invalid_argument if it is out of its range
void store(const option& x, const caf::config_value& value, const std::string& where,
           scheduler_options& into);

/// The field's value, as CAF's configuration would hold it.
caf::config_value show(const option& x, const scheduler_options& from);

} // namespace basal::actors
