// The options of an actor system. To add one: a field in scheduler_options, or in what that is made
// of, and a row here.

#include "option_table.hpp"

#include <basal/executors/config.hpp>
#include <basal/executors/detail/stack_pool.hpp>

#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace basal::actors {

namespace {

/// `of(options)` is the field, whose type may be narrower than the option's.
template <class T, class Of>
field<T> number(Of of, T least, T most, std::string unit) {
  using held = std::remove_reference_t<decltype(of(std::declval<scheduler_options&>()))>;
  return {
    [of](const scheduler_options& x) {
      return static_cast<T>(of(const_cast<scheduler_options&>(x)));
    },
    [of](scheduler_options& x, T value) { of(x) = static_cast<held>(value); },
    least,
    most,
    std::move(unit),
  };
}

template <class Of>
field<std::size_t> whole(Of of, std::size_t least, std::size_t most, std::string unit) {
  return number<std::size_t>(of, least, most, std::move(unit));
}

template <class Of>
field<caf::timespan> duration(Of of, caf::timespan least, caf::timespan most) {
  return number<caf::timespan>(of, least, most, "");
}

template <class Of, class... Enum>
choice one_of(Of of, Enum... values) {
  const std::array all{values...};
  return {
    [of, all](const scheduler_options& x) {
      const auto at = std::find(all.begin(), all.end(), of(const_cast<scheduler_options&>(x)));
      return static_cast<std::size_t>(at - all.begin());
    },
    [of, all](scheduler_options& x, std::size_t index) { of(x) = all[index]; },
    {std::string{to_string(values)}...},
  };
}

template <class Of>
flag yes_or_no(Of of) {
  return {[of](const scheduler_options& x) { return of(const_cast<scheduler_options&>(x)); },
          [of](scheduler_options& x, bool value) { of(x) = value; }};
}

// Not a group "basal.mab": CAF 0.17.6 finds options of nested groups only on the command line.
const std::string adaptive_prefix = "mab-";

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<option> made() {
  using executors::pinning;
  using executors::pool_config;
  using executors::stack_pool;
  using mab::cost_model;
  using mab::policy;
  using posse::hysteresis;
  using posse::runtime_config;
  using posse::victim_policy;
  using all = scheduler_options;
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  const auto executors = pool_config::max_executors;
  std::vector<option> result{
    {"message-executors", "executors that run actors",
     whole(
       [](all & x) -> auto& { return x.message_executors; }, 1, executors, " executors"),
     "one for each usable CPU, at least 4"},
    {"compute-executors", "executors for pure functions and offloaded handlers",
     whole(
       [](all & x) -> auto& { return x.compute.compute_executors; }, 1, executors, " executors"),
     "one for each usable CPU"},
    {"quantum", "time slice, 50us to 10ms",
     duration(
       [](all & x) -> auto& { return x.compute.quantum; }, runtime_config::min_quantum,
       runtime_config::max_quantum)},
    {"stack-bytes", "usable bytes of each fiber's stack",
     whole(
       [](all & x) -> auto& { return x.compute.stack_bytes; }, stack_pool::min_stack_bytes,
       stack_pool::max_stack_bytes, " bytes")},
    {"pinning", "executors keep to CPUs: none, spread (one to each core first), compact",
     one_of(
       [](all & x) -> auto& { return x.compute.pin; }, pinning::none, pinning::spread,
       pinning::compact)},
    {"stop-deadline",
     "a system that stops and whose handlers do not return ends the program after so long",
     duration(
       [](all & x) -> auto& { return x.stop_patience; }, std::chrono::milliseconds{1},
       all::no_deadline),
     "it reports after 10s, and waits on"},
    {"victims",
     "a computation whose branch was stolen goes on (run_victim) or waits (suspend_victim)",
     one_of(
       [](all & x) -> auto& { return x.compute.victims; }, victim_policy::run_victim,
       victim_policy::suspend_victim)},
    {"steal-by", "branches are stolen when they are worth it (worth), or a quantum old (quantum)",
     one_of(
       [](all & x) -> auto& { return x.compute.steal_by; }, hysteresis::worth,
       hysteresis::quantum)},
    {"cabal-limit", "executors that may work on one computation; 0: all",
     whole(
       [](all & x) -> auto& { return x.compute.cabal_limit; }, 0, most, " executors")},
    {"memory-limit", "bytes that one computation may use on one executor; 0: no limit",
     whole(
       [](all & x) -> auto& { return x.compute.memory_limit; }, 0, most, " bytes")},
    {"check-effects",
     "a pure function that wakes or spawns an actor, or sends for later, ends the program",
     yes_or_no([](all & x) -> auto& { return x.check_effects; })},
    {"recorder", "executors keep a flight recording",
     yes_or_no([](all & x) -> auto& { return x.compute.record; })},
  };
  const auto add_level
    = [&](const std::string& name, std::string help, std::string by_default, auto of) {
        using enum log_level;
        result.push_back({"log-" + name, std::move(help),
                          one_of(of, unset, trace, debug, info, warn, error, critical, off),
                          std::move(by_default)});
      };
  add_level(
    "level", "what is logged: trace, debug, info, warn, error, critical, off",
    "as SPDLOG_LEVEL says, else info", [](all & x) -> auto& { return x.log.level; });
  for (std::size_t i = 0; i < log_module_count; ++i)
    add_level(
      log_names[i] + std::string{"basal."}.size(),
      std::string{"the same of the logger "} + log_names[i],
      "as basal.log-level", [i](all & x) -> auto& { return x.log.of[i]; });
  result.push_back({"log-aout",
                    "what actors print with aout, and CAF's own reports, go to the logger aout",
                    yes_or_no([](all & x) -> auto& { return x.log.aout; }),
                    {}});
  result.push_back({"observer", "where basal::observer::server listens, such as 127.0.0.1:7420",
                    words{[](const all& x) { return x.observer; },
                          [](all& x, std::string value) { x.observer = std::move(value); }},
                    "it does not"});
  const auto add = [&](const std::string& name, std::string help, auto value) {
    result.push_back({adaptive_prefix + dashed(name), std::move(help), std::move(value), {}});
  };
  // Their ranges are checked by knobs::validate.
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  for (const auto& info : mab::knob_table())
    add(info.name, info.meaning,
        number<double>([value = info.value](all& x) -> double& { return x.adaptive.knobs.*value; },
                       -infinity, infinity, ""));
  add("hint_exploration_count", "offloads forced by compute_hint::high",
      whole(
        [](all & x) -> auto& { return x.adaptive.knobs.hint_exploration_count; }, 0,
        std::numeric_limits<std::uint32_t>::max(), " offloads"));
  add("enable_strikes", "guardrail GR3",
      yes_or_no([](all & x) -> auto& { return x.adaptive.knobs.enable_strikes; }));
  add("restart_on_shift", "forget what was learned when a cost has changed for good",
      yes_or_no([](all & x) -> auto& { return x.adaptive.knobs.restart_on_shift; }));
  add("chosen_by", "policy: thompson, ucb1, static_threshold, always_inline, always_offload",
      one_of(
        [](all & x) -> auto& { return x.adaptive.knobs.chosen_by; }, policy::thompson, policy::ucb1,
        policy::static_threshold, policy::always_inline, policy::always_offload));
  add("model", "cost model: corrected, separate_arms, seed_literal",
      one_of(
        [](all & x) -> auto& { return x.adaptive.knobs.model; }, cost_model::corrected,
        cost_model::separate_arms, cost_model::seed_literal));
  add("calibrate", "measure the overhead of an offload before the first",
      yes_or_no([](all & x) -> auto& { return x.adaptive.calibrate; }));
  return result;
}

std::string text(const caf::config_value& x) {
  const auto* word = caf::get_if<std::string>(&x);
  return word != nullptr ? *word : to_string(x);
}

template <class T>
std::string shown(T value) {
  if constexpr (std::is_same_v<T, caf::timespan>) // CAF shows all that are negative as 0d
    if (value < T::zero() && value != T::min())
      return "-" + caf::deep_to_string(-value);
  return caf::deep_to_string(value);
}

template <class T>
void store_checked(const field<T>& to, T value, const std::string& where, scheduler_options& into) {
  if (value < to.least || value > to.most)
    throw std::invalid_argument(where + " is " + shown(value) + ", must be from " + shown(to.least)
                                + " to " + shown(to.most) + to.unit);
  to.set(into, value);
}

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const auto& name : names)
    result += (&name == &names.front() ? "" : &name == &names.back() ? " or " : ", ") + name;
  return result;
}

} // namespace

const std::vector<option>& all_options() {
  static const auto result = made();
  return result;
}

std::string described(const option& x) {
  static const scheduler_options defaults; // once: it asks the system how many CPUs there are
  return x.help + " (" + (x.by_default.empty() ? text(show(x, defaults)) : x.by_default) + ")";
}

bool is_of_adaptive_handlers(const option& x) {
  return x.name.starts_with(adaptive_prefix);
}

void store(const option& x, const caf::config_value& value, const std::string& where,
           scheduler_options& into) {
  const auto into_field = [&]<class Value>(const Value& to) {
    if constexpr (std::is_same_v<Value, field<std::size_t>>) {
      store_checked(to, caf::get<std::size_t>(value), where, into);
    } else if constexpr (std::is_same_v<Value, field<caf::timespan>>) {
      store_checked(to, caf::get<caf::timespan>(value), where, into);
    } else if constexpr (std::is_same_v<Value, field<double>>) {
      store_checked(to, caf::get<double>(value), where, into);
    } else if constexpr (std::is_same_v<Value, words>) {
      to.set(into, caf::get<std::string>(value));
    } else if constexpr (std::is_same_v<Value, flag>) {
      to.set(into, caf::get<bool>(value));
    } else {
      const auto text = caf::get<std::string>(value);
      const auto at = std::find(to.names.begin(), to.names.end(), text);
      if (at == to.names.end())
        throw std::invalid_argument(where + " is '" + text + "', must be " + joined(to.names));
      to.set(into, static_cast<std::size_t>(at - to.names.begin()));
    }
  };
  std::visit(into_field, x.value);
}

caf::config_value show(const option& x, const scheduler_options& from) {
  return std::visit(
    [&]<class Value>(const Value& of) {
      if constexpr (std::is_same_v<Value, choice>)
        return caf::config_value{of.names[of.get(from)]};
      else
        return caf::config_value{of.get(from)};
    },
    x.value);
}

} // namespace basal::actors
