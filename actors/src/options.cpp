#include <basal/actors/options.hpp>

#include "settings.hpp"

#include <basal/executors/config.hpp>
#include <basal/executors/stack_pool.hpp>
#include <basal/posse/config.hpp>

#include <caf/config_option_adder.hpp>
#include <caf/config_option_set.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/timespan.hpp>

#include <cctype>
#include <limits>
#include <stdexcept>
#include <string>

namespace basal::actors {

namespace {

// A century, which fits into every clock.
constexpr caf::timespan no_deadline = std::chrono::hours{24 * 365 * 100};

template <class T>
T checked(const setting& given, T fallback, T least, T most, const char* unit) {
  const auto value = given.get_or(fallback);
  if (value < least || value > most)
    throw std::invalid_argument(given.where + " is " + caf::deep_to_string(value)
                                + ", must be from " + caf::deep_to_string(least) + " to "
                                + caf::deep_to_string(most) + unit);
  return value;
}

executors::pinning pinning_of(const setting& given) {
  using executors::pinning;
  const auto text = given.get_or(std::string{"none"});
  for (auto pin : {pinning::none, pinning::spread, pinning::compact})
    if (text == to_string(pin))
      return pin;
  throw std::invalid_argument(given.where + " is '" + text + "', must be none, spread or compact");
}

// Pinned executors that shared a CPU would only be in each other's way.
void check_pinned(const char* option, std::size_t executors, executors::pinning pin) {
  if (pin == executors::pinning::none)
    return;
  if (const auto cpus = executors::cpus_for(pin).size(); executors > cpus)
    throw std::invalid_argument(std::string{"basal."} + option + " is " + std::to_string(executors)
                                + ", must be from 1 to " + std::to_string(cpus)
                                + ", the CPUs of this process, where basal.pinning is set");
}

} // namespace

const char* to_string(executors::pinning pin) noexcept {
  switch (pin) {
  case executors::pinning::spread:
    return "spread";
  case executors::pinning::compact:
    return "compact";
  case executors::pinning::none:
    break;
  }
  return "none";
}

std::string environment_variable(const char* option) {
  std::string result = "BASAL_";
  for (; *option != '\0'; ++option)
    result += *option == '-' ? '_' : static_cast<char>(std::toupper(*option));
  return result;
}

void add_options(caf::config_option_set& known) {
  caf::config_option_adder{known, "basal"}
    .add<std::size_t>("message-executors", "number of executors that run actors")
    .add<std::size_t>("compute-executors", "number of executors for pure functions")
    .add<caf::timespan>("quantum", "time slice of computations, 50us to 10ms")
    .add<std::size_t>("stack-bytes", "usable bytes of each fiber's stack")
    .add<std::string>("pinning", "executors keep to CPUs: none, spread or compact")
    .add<caf::timespan>("stop-deadline", "end the program if handlers keep it from stopping");
}

scheduler_options read_options(const caf::actor_system_config& cfg) {
  using executors::pool_config;
  using posse::runtime_config;
  const runtime_config defaults;
  const std::size_t one = 1;
  const auto most = pool_config::max_executors;
  const auto of_basal = [&](const char* name) { return find(cfg, std::string{"basal."} + name); };
  const auto of_caf = [&](const char* name) { return find(cfg, std::string{"scheduler."} + name); };
  const auto threads
    = checked(of_caf("max-threads"), executors::usable_cpus(), one, most, " threads");
  scheduler_options result{};
  result.message_executors
    = checked(of_basal("message-executors"), threads, one, most, " executors");
  result.compute_executors
    = checked(of_basal("compute-executors"), defaults.compute_executors, one, most, " executors");
  result.quantum
    = checked<caf::timespan>(of_basal("quantum"), defaults.quantum, runtime_config::min_quantum,
                             runtime_config::max_quantum, "");
  result.stack_bytes
    = checked(of_basal("stack-bytes"), defaults.stack_bytes, executors::stack_pool::min_stack_bytes,
              executors::stack_pool::max_stack_bytes, " bytes");
  result.pin = pinning_of(of_basal("pinning"));
  check_pinned("message-executors", result.message_executors, result.pin);
  check_pinned("compute-executors", result.compute_executors, result.pin);
  result.stop_patience = checked<caf::timespan>(of_basal("stop-deadline"), no_deadline,
                                                std::chrono::milliseconds{1}, no_deadline, "");
  result.max_throughput
    = checked(of_caf("max-throughput"), scheduler_options::default_max_throughput, one,
              std::numeric_limits<std::size_t>::max(), " messages");
  result.knobs = read_knob_options(cfg);
  return result;
}

} // namespace basal::actors
