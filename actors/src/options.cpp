#include <basal/actors/options.hpp>

#include "option_table.hpp"
#include "settings.hpp"

#include <caf/config_option_adder.hpp>
#include <caf/config_option_set.hpp>
#include <caf/make_config_option.hpp>

#include <cctype>
#include <stdexcept>
#include <string>
#include <vector>

// CAF's library and the program each have the states of the types that options have, and the linker
// would give the library the program's. g++ has filled in half of such a state before the program
// runs, and its code relies on that; clang's states are empty until clang's code has met them. So a
// program that clang compiled would crash in CAF at the first option that is set: we hide the
// program's states, for the types that CAF's own options have, and one hidden definition hides all.
namespace caf::detail {

#define BASAL_HIDE_STATE(...)                                                                      \
  template __attribute__((visibility("hidden"))) config_option::meta_state*                        \
  option_meta_state_instance<__VA_ARGS__>()

BASAL_HIDE_STATE(bool);
BASAL_HIDE_STATE(std::size_t);
BASAL_HIDE_STATE(std::string);
BASAL_HIDE_STATE(atom_value);
BASAL_HIDE_STATE(timespan);
BASAL_HIDE_STATE(std::vector<std::size_t>);
BASAL_HIDE_STATE(std::vector<std::string>);
BASAL_HIDE_STATE(std::vector<atom_value>);

#undef BASAL_HIDE_STATE

} // namespace caf::detail

namespace basal::actors {

namespace {

const std::string group = "basal";

/// CAF's type of an option's value.
template <class Value>
struct type_in_caf;

template <class T>
struct type_in_caf<field<T>> {
  using type = T;
};

template <>
struct type_in_caf<choice> {
  using type = std::string;
};

template <>
struct type_in_caf<words> {
  using type = std::string;
};

template <>
struct type_in_caf<flag> {
  using type = bool;
};

void declare(const option& x, caf::config_option_set& known) {
  caf::config_option_adder adder{known, group};
  const auto add = [&]<class Value>(const Value&) {
    adder.add<typename type_in_caf<Value>::type>(x.name, described(x));
  };
  std::visit(add, x.value);
}

// Pinned executors that shared a CPU would only be in each other's way.
void check_pinned(const char* option, std::size_t executors, executors::pinning pin) {
  if (pin == executors::pinning::none)
    return;
  if (const auto cpus = executors::cpus_for(pin).size(); executors > cpus)
    throw std::invalid_argument(group + "." + option + " is " + std::to_string(executors)
                                + ", must be from 1 to " + std::to_string(cpus)
                                + ", the CPUs of this process, where basal.pinning is set");
}

std::size_t count_in_caf(const setting& given, std::size_t fallback, std::size_t most,
                         const char* unit) {
  const auto value = given.value ? caf::get<std::size_t>(*given.value) : fallback;
  if (value < 1 || value > most)
    throw std::invalid_argument(given.where + " is " + std::to_string(value)
                                + ", must be from 1 to " + std::to_string(most) + unit);
  return value;
}

} // namespace

std::string environment_variable(const std::string& option) {
  std::string result = "BASAL_";
  for (const char x : option)
    result += x == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(x)));
  return result;
}

void add_options(caf::config_option_set& known) {
  for (const auto& x : all_options())
    declare(x, known);
}

std::string help_text() {
  caf::config_option_set shown;
  for (const auto& x : all_options())
    if (!is_of_adaptive_handlers(x))
      declare(x, shown);
  return shown.help_text(false);
}

std::string option_table() {
  const scheduler_options defaults;
  std::string result = "| option | in the environment | meaning |\n|---|---|---|\n";
  for (const auto& x : all_options())
    if (!is_of_adaptive_handlers(x))
      result += "| `basal." + x.name + "` | `" + environment_variable(x.name) + "` | "
                + described(x) + " |\n";
  return result;
}

scheduler_options read_options(const caf::actor_system_config& cfg) {
  using executors::pool_config;
  scheduler_options result;
  const auto threads = find(cfg, "scheduler.max-threads");
  result.message_executors
    = count_in_caf(threads, result.message_executors, pool_config::max_executors, " threads");
  bool counted = threads.value.has_value();
  for (const auto& x : all_options()) {
    const auto name = group + "." + x.name;
    const bool is_count = x.name == "message-executors";
    // The environment has less to say than the program, whichever name that uses.
    const auto given = is_count && threads.value ? find_in_program(cfg, name) : find(cfg, name);
    if (!given.value)
      continue;
    store(x, *given.value, given.where, result);
    counted = counted || is_count;
  }
  if (!counted && result.compute.pin != executors::pinning::none)
    result.message_executors = executors::cpus_for(result.compute.pin).size();
  check_pinned("message-executors", result.message_executors, result.compute.pin);
  check_pinned("compute-executors", result.compute.compute_executors, result.compute.pin);
  result.max_throughput = count_in_caf(find(cfg, "scheduler.max-throughput"), result.max_throughput,
                                       std::numeric_limits<std::size_t>::max(), " messages");
  result.adaptive.knobs.validate();
  return result;
}

} // namespace basal::actors
