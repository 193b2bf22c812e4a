#include <basal/actors/knob_options.hpp>

#include "settings.hpp"

#include <caf/config_option_adder.hpp>
#include <caf/config_option_set.hpp>
#include <caf/settings.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace basal::actors {

namespace {

// Not a group "basal.mab": CAF 0.17.6 finds options of nested groups only on the command line.
constexpr const char* prefix = "mab-";

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string option(const std::string& name) {
  return std::string{"basal."} + prefix + dashed(name);
}

template <class Enum>
Enum read_name(const caf::actor_system_config& cfg, const char* name, Enum last, Enum fallback) {
  const auto given = find(cfg, option(name));
  const auto text = given.get_or(std::string{to_string(fallback)});
  std::string known;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto x = static_cast<Enum>(i);
    if (text == to_string(x))
      return x;
    known += (known.empty() ? "" : ", ") + std::string{to_string(x)};
  }
  throw std::invalid_argument(given.where + " is \"" + text + "\", must be one of " + known);
}

} // namespace

void add_knob_options(caf::config_option_set& options) {
  caf::config_option_adder adder{options, "basal"};
  const auto in_group = [](const std::string& name) { return prefix + dashed(name); };
  for (const auto& info : mab::knob_table())
    adder.add<double>(in_group(info.name), info.meaning);
  adder
    .add<std::size_t>(in_group("hint_exploration_count"), "offloads forced by compute_hint::high")
    .add<bool>(in_group("enable_strikes"), "guardrail GR3")
    .add<bool>(in_group("restart_on_shift"),
               "forget what was learned when a cost has changed for good")
    .add<std::string>(in_group("chosen_by"), "policy: thompson, ucb1, static_threshold, "
                                             "always_inline, always_offload")
    .add<std::string>(in_group("model"), "cost model: corrected, separate_arms, seed_literal")
    .add<bool>(in_group("calibrate"), "measure the overhead of an offload at the start (true)");
}

knob_options read_knob_options(const caf::actor_system_config& cfg) {
  knob_options result;
  auto& k = result.knobs;
  const auto read
    = [&](const char* name, auto fallback) { return find(cfg, option(name)).get_or(fallback); };
  for (const auto& info : mab::knob_table())
    k.*info.value = read(info.name, k.*info.value);
  const auto count = read("hint_exploration_count", std::size_t{k.hint_exploration_count});
  // What does not fit is out of range in any case.
  k.hint_exploration_count = static_cast<std::uint32_t>(std::min<std::size_t>(count, ~0u));
  k.enable_strikes = read("enable_strikes", k.enable_strikes);
  k.restart_on_shift = read("restart_on_shift", k.restart_on_shift);
  k.chosen_by = read_name(cfg, "chosen_by", mab::policy::always_offload, k.chosen_by);
  k.model = read_name(cfg, "model", mab::cost_model::seed_literal, k.model);
  result.calibrate = read("calibrate", result.calibrate);
  k.validate();
  return result;
}

void put_missing_knobs(const knob_options& options, caf::settings& basal_group) {
  const auto put = [&](const char* name, const auto& value) {
    caf::put_missing(basal_group, prefix + dashed(name), value);
  };
  const auto& k = options.knobs;
  for (const auto& info : mab::knob_table())
    put(info.name, k.*info.value);
  put("hint_exploration_count", std::size_t{k.hint_exploration_count});
  put("enable_strikes", k.enable_strikes);
  put("restart_on_shift", k.restart_on_shift);
  put("chosen_by", std::string{to_string(k.chosen_by)});
  put("model", std::string{to_string(k.model)});
  put("calibrate", options.calibrate);
}

} // namespace basal::actors
