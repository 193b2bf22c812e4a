#include "metrics.hpp"

#include "prometheus_text.hpp"
#include "version.hpp"

#include <basal/mab/guardrails.hpp>
#include <basal/priority/level.hpp>

#include <prometheus/metric_family.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace basal::observer {

namespace {

using labels = std::vector<prometheus::ClientMetric::Label>;

/// The families of one scrape, in the order in which they are begun.
class exposition {
public:
  /// All values that follow are of this counter, which only grows.
  void counter(const char* name, const char* help) {
    begin(name, help, prometheus::MetricType::Counter);
  }

  /// All values that follow are of this gauge, which goes up and down.
  void gauge(const char* name, const char* help) {
    begin(name, help, prometheus::MetricType::Gauge);
  }

  /// All histograms that follow are of this one.
  void histogram(const char* name, const char* help) {
    begin(name, help, prometheus::MetricType::Histogram);
  }

  /// @param within how many there are up to each limit; `limits` has them, in seconds
  void times(double count, double sum, std::span<const double> within,
             std::span<const double> limits, labels of) {
    auto& metric = families_.back().metric.emplace_back();
    metric.label = std::move(of);
    metric.histogram.sample_count = static_cast<std::uint64_t>(count);
    metric.histogram.sample_sum = sum;
    for (std::size_t i = 0; i < limits.size(); ++i)
      metric.histogram.bucket.push_back({static_cast<std::uint64_t>(within[i]), limits[i]});
  }

  template <class Number>
  void value(Number x, labels of = {}) {
    auto& family = families_.back();
    auto& metric = family.metric.emplace_back();
    metric.label = std::move(of);
    if (family.type == prometheus::MetricType::Counter)
      metric.counter.value = static_cast<double>(x);
    else
      metric.gauge.value = static_cast<double>(x);
  }

  std::string text() const {
    return prometheus_text(families_);
  }

private:
  void begin(const char* name, const char* help, prometheus::MetricType type) {
    families_.push_back({name, help, type, {}});
  }

  std::vector<prometheus::MetricFamily> families_;
};

constexpr double seconds_of_ns(std::uint64_t ns) noexcept {
  return static_cast<double>(ns) / 1e9;
}

/// Of time_stats::within.
constexpr std::array<double, actors::time_limits> time_limits_in_seconds() noexcept {
  std::array<double, actors::time_limits> limits{};
  double limit = 1e-6;
  for (auto& x : limits) {
    x = limit;
    limit *= 4;
  }
  return limits;
}

/// Sums by the values of a label, of which there are `Numbers`.
template <std::size_t Numbers>
class by_label {
public:
  /// @param folded counts what goes under "other"
  void add(const std::string& label, const std::array<double, Numbers>& numbers,
           std::uint64_t& folded) {
    auto at = sums_.find(label);
    if (at == sums_.end()) {
      const bool fits = sums_.size() < most_label_values;
      folded += fits ? 0 : 1;
      at = sums_.try_emplace(fits ? label : "other").first;
    }
    for (std::size_t i = 0; i < Numbers; ++i)
      at->second[i] += numbers[i];
  }

  /// Calls `visit(label's value, numbers)` for each.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [name, numbers] : sums_)
      visit(name, numbers);
  }

  void write(exposition& out, std::size_t number, const char* label, labels more = {}) const {
    for (const auto& [name, numbers] : sums_) {
      labels all{{label, name}};
      all.insert(all.end(), more.begin(), more.end());
      out.value(numbers[number], std::move(all));
    }
  }

private:
  std::map<std::string, std::array<double, Numbers>> sums_;
};

executors::executor_stats sum_of(const std::vector<executors::executor_stats>& pool) {
  executors::executor_stats sum;
  for (const auto& x : pool) {
    sum.tasks_run += x.tasks_run;
    sum.tasks_stolen += x.tasks_stolen;
    sum.lifo_hits += x.lifo_hits;
    sum.injection_hits += x.injection_hits;
    sum.deliveries += x.deliveries;
    sum.background_tasks += x.background_tasks;
    sum.times_parked += x.times_parked;
    sum.wake_ups += x.wake_ups;
    sum.spin_wake_ups += x.spin_wake_ups;
    sum.overruns += x.overruns;
    sum.suspensions += x.suspensions;
    sum.quantum_ends += x.quantum_ends;
    sum.running_ns += x.running_ns;
    sum.looking_ns += x.looking_ns;
    sum.parked_ns += x.parked_ns;
  }
  return sum;
}

void write_executors(exposition& out, const actors::system_stats& stats) {
  const std::array pools{std::pair{"message", &stats.message_executors},
                         std::pair{"compute", &stats.compute_executors}};
  out.gauge("basal_executors", "Executors, each a thread with a run queue.");
  for (const auto& [name, pool] : pools)
    out.value(pool->size(), {{"pool", name}});
  out.gauge("basal_executor_load_ratio", "Share of its time that an executor spends running, now.");
  for (const auto& [name, pool] : pools)
    for (std::size_t i = 0; i < pool->size() && pool->size() <= most_executors_shown; ++i)
      out.value(static_cast<double>((*pool)[i].load_permille) / 1000,
                {{"pool", name}, {"executor", std::to_string(i)}});

  const std::array sums{sum_of(stats.message_executors), sum_of(stats.compute_executors)};
  out.counter("basal_executor_tasks_total",
              "Pieces of work that were run, by where they came from.");
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const auto& x = sums[i];
    const auto elsewhere
      = x.tasks_stolen + x.lifo_hits + x.injection_hits + x.deliveries + x.background_tasks;
    const auto from = [&](const char* source, std::uint64_t n) {
      out.value(n, {{"pool", pools[i].first}, {"source", source}});
    };
    from("ring", x.tasks_run - std::min(elsewhere, x.tasks_run));
    from("slot", x.lifo_hits);
    from("injection", x.injection_hits);
    from("stolen", x.tasks_stolen);
    from("delivered", x.deliveries);
    from("background", x.background_tasks);
  }
  const auto of_pools = [&](const char* name, const char* help, auto field) {
    out.counter(name, help);
    for (std::size_t i = 0; i < pools.size(); ++i)
      out.value(sums[i].*field, {{"pool", pools[i].first}});
  };
  using executors::executor_stats;
  of_pools("basal_executor_parks_total", "Times that an executor went to sleep.",
           &executor_stats::times_parked);
  out.counter("basal_executor_wakeups_total",
              "Times that a sleeping executor was woken: in the kernel, or while it still spun.");
  for (std::size_t i = 0; i < pools.size(); ++i) {
    out.value(sums[i].wake_ups, {{"pool", pools[i].first}, {"kind", "kernel"}});
    out.value(sums[i].spin_wake_ups, {{"pool", pools[i].first}, {"kind", "spinning"}});
  }
  of_pools("basal_executor_overruns_total", "Times that work ran on for more than a quantum.",
           &executor_stats::overruns);
  of_pools("basal_executor_suspensions_total", "Times that running work was suspended.",
           &executor_stats::suspensions);
  of_pools("basal_executor_quantum_ends_total", "Times that work stepped aside for others.",
           &executor_stats::quantum_ends);
  out.counter(
    "basal_executor_state_seconds_total",
    "Time of the pool's threads: running work or between two pieces, looking for some that "
    "may come soon, parked in the kernel.");
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const auto in = [&](const char* state, std::uint64_t ns) {
      out.value(seconds_of_ns(ns), {{"pool", pools[i].first}, {"state", state}});
    };
    in("running", sums[i].running_ns);
    in("looking", sums[i].looking_ns);
    in("parked", sums[i].parked_ns);
  }
}

void write_posse(exposition& out, const posse::posse_stats& x) {
  out.counter("basal_posse_forks_total", "Forks of computations, by what became of them.");
  out.value(x.inlined, {{"outcome", "inlined"}});
  out.value(x.forks - std::min(x.inlined, x.forks), {{"outcome", "stolen"}});
  out.counter("basal_posse_thefts_total", "Right continuations that another executor took.");
  out.value(x.thefts - std::min(x.seamless_thefts, x.thefts), {{"kind", "delegated"}});
  out.value(x.seamless_thefts, {{"kind", "seamless"}});
  out.counter("basal_posse_theft_rejections_total", "Looks for a theft after which none was made.");
  x.verdicts.for_each([&](posse::theft_verdict verdict, std::uint64_t n) {
    using enum posse::theft_verdict;
    if (verdict != delegate_oldest && verdict != delegate_two)
      out.value(n, {{"reason", describe(verdict).name}});
  });
  out.counter("basal_posse_suspended_seconds_total", "Time that victims waited for delegates.");
  out.value(seconds_of_ns(x.suspended_ns));
  out.gauge("basal_posse_computations", "Computations under way.");
  out.value(x.computations_now);
  out.counter("basal_posse_near_limit_total",
              "Computations that have used four fifths of their memory limit.");
  out.value(x.near_limit);
  out.counter("basal_posse_failures_total", "Computations that ended without a result.");
  out.value(x.cancelled, {{"reason", "cancelled"}});
  out.value(x.over_limit, {{"reason", "memory_limit"}});
  out.value(x.failed, {{"reason", "exception"}});
}

void write_functions(exposition& out, const posse::posse_stats& x, std::uint64_t& folded) {
  by_label<3> functions;
  for (const auto& f : x.functions)
    functions.add(f.name,
                  {static_cast<double>(f.calls - std::min(f.offloaded, f.calls)),
                   static_cast<double>(f.offloaded), seconds_of_ns(f.busy_ns)},
                  folded);
  out.counter("basal_function_calls_total", "Calls of pure functions, by where they ran.");
  functions.write(out, 0, "function", {{"mode", "inline"}});
  functions.write(out, 1, "function", {{"mode", "offloaded"}});
  out.counter("basal_function_busy_seconds_total", "Time that their computations had executors.");
  functions.write(out, 2, "function");
}

/// The numbers of types of actors: counts, and two histograms of a count, a sum and limits.
class actor_numbers {
public:
  void add(const actors::actor_stats& x, std::uint64_t& folded) {
    row numbers{};
    numbers[messages] = static_cast<double>(x.messages);
    numbers[spawned] = static_cast<double>(x.spawned);
    numbers[ended] = static_cast<double>(x.ended);
    numbers[busy] = seconds_of_ns(x.busy_ns);
    numbers[mailbox] = static_cast<double>(x.mailbox);
    put(x.handlers, numbers, handlers);
    put(x.delays, numbers, delays);
    types_.add(x.name, numbers, folded);
  }

  void write(exposition& out) const {
    out.counter("basal_actor_messages_total",
                "Messages that were handled while actors are watched.");
    types_.write(out, messages, "type");
    out.counter("basal_actors_spawned_total", "Actors that had their first turn while watched.");
    types_.write(out, spawned, "type");
    out.counter("basal_actors_ended_total", "Actors that had their last turn while watched.");
    types_.write(out, ended, "type");
    out.counter("basal_actor_busy_seconds_total", "Time in turns of actors that are watched.");
    types_.write(out, busy, "type");
    out.gauge("basal_actor_mailbox_messages", "Most messages that waited for one actor, of late.");
    types_.write(out, mailbox, "type");
    write(out, "basal_actor_processing_seconds", "Time of handlers, while watched.", handlers);
    write(out, "basal_actor_scheduling_delay_seconds",
          "Time from the message that wakes an actor to its turn, while watched.", delays);
  }

private:
  enum place : std::size_t { messages, spawned, ended, busy, mailbox, handlers };
  static constexpr std::size_t histogram_size = 2 + actors::time_limits;
  static constexpr std::size_t delays = handlers + histogram_size;
  static constexpr std::size_t size = delays + histogram_size;
  using row = std::array<double, size>;

  static void put(const actors::time_stats& x, row& into, std::size_t at) noexcept {
    into[at] = static_cast<double>(x.count);
    into[at + 1] = seconds_of_ns(x.sum_ns);
    for (std::size_t k = 0; k < actors::time_limits && k < x.within.size(); ++k)
      into[at + 2 + k] = static_cast<double>(x.within[k]);
  }

  void write(exposition& out, const char* name, const char* help, std::size_t at) const {
    const auto limits = time_limits_in_seconds();
    out.histogram(name, help);
    types_.for_each([&](const std::string& type, const row& numbers) {
      out.times(numbers[at], numbers[at + 1], {&numbers[at + 2], limits.size()}, limits,
                {{"type", type}});
    });
  }

  by_label<size> types_;
};

/// Decisions by what settled them: a cold start or a hint, a guardrail, or else the costs.
void write_choosers(exposition& out, const std::vector<actors::chooser_stats>& all,
                    std::uint64_t& folded) {
  enum place : std::size_t {
    cold_start,
    inline_by_costs,
    hint,
    offload_by_costs,
    overhead,
    guards
  };
  constexpr auto size = guards + mab::guardrail_count;
  by_label<size> choosers;
  for (const auto& x : all) {
    std::array<double, size> row{};
    const auto of = [&](mab::event e) { return static_cast<double>(x.counts[e]); };
    row[cold_start] = of(mab::event::cold_start);
    row[inline_by_costs] = of(mab::event::inline_decision) - row[cold_start];
    row[hint] = of(mab::event::hint_offload);
    row[offload_by_costs] = of(mab::event::offload_decision) - row[hint];
    row[overhead] = seconds_of_ns(x.offload_overhead.typical_ns);
    for (const auto& guard : mab::guardrail_table) {
      const auto n = static_cast<double>(x.counts[guard.which]);
      row[guards + static_cast<std::size_t>(guard.which)] = n;
      row[offload_by_costs] -= n;
    }
    choosers.add(x.name, row, folded);
  }
  out.counter("basal_chooser_decisions_total",
              "Decisions of adaptive handlers where to run, by choice and by what settled it.");
  choosers.write(out, cold_start, "family", {{"choice", "inline"}, {"reason", "cold_start"}});
  choosers.write(out, inline_by_costs, "family", {{"choice", "inline"}, {"reason", "costs"}});
  choosers.write(out, hint, "family", {{"choice", "offload"}, {"reason", "hint"}});
  choosers.write(out, offload_by_costs, "family", {{"choice", "offload"}, {"reason", "costs"}});
  for (const auto& guard : mab::guardrail_table)
    choosers.write(out, guards + static_cast<std::size_t>(guard.which), "family",
                   {{"choice", "offload"}, {"reason", guard.name}});
  out.gauge("basal_chooser_overhead_seconds",
            "Typical cost of sending a handler away, as believed now.");
  choosers.for_each([&](const std::string& family, const std::array<double, size>& row) {
    if (family != "other") // a sum of costs says nothing
      out.value(row[overhead], {{"family", family}});
  });
}

void write_actors(exposition& out, const actors::system_stats& stats, std::uint64_t& folded) {
  out.gauge("basal_actors", "Actors that have not ended.");
  out.value(stats.actors_now);
  actor_numbers types;
  for (const auto& x : stats.actor_types)
    types.add(x, folded);
  types.write(out);
  by_label<2> overruns;
  for (const auto& x : stats.overruns)
    overruns.add(x.name, {static_cast<double>(x.overruns), static_cast<double>(x.longest_us) / 1e6},
                 folded);
  out.counter("basal_actor_overruns_total", "Times that an actor kept its executor for too long.");
  overruns.write(out, 0, "type");
  out.gauge("basal_actor_longest_overrun_seconds", "The longest of these.");
  overruns.write(out, 1, "type");
  out.gauge("basal_timers", "Timeouts and delayed messages that wait.");
  out.value(stats.timers_now);

  write_choosers(out, stats.choosers, folded);
}

/// Values for all levels, so that a rate has something to begin with.
void write_background(exposition& out, const actors::background_stats& x) {
  using level_stats = actors::background_level_stats;
  std::array<level_stats, priority::named_levels.size()> levels;
  for (std::size_t i = 0; i < levels.size(); ++i)
    levels[i].name = priority::named_levels[i].name;
  for (const auto& level : x.levels)
    for (auto& known : levels)
      if (known.name == level.name)
        known = level;
  out.counter("basal_priority_tasks_total",
              "Background tasks, by level and by what became of them.");
  const std::array outcomes{
    std::pair{"done", &level_stats::done},
    std::pair{"failed", &level_stats::failed},
    std::pair{"cancelled", &level_stats::cancelled},
    std::pair{"discarded", &level_stats::discarded},
    std::pair{"rejected", &level_stats::rejected},
    std::pair{"timed_out", &level_stats::timed_out},
  };
  for (const auto& level : levels)
    for (const auto& [name, number] : outcomes)
      out.value(level.*number, {{"level", level.name}, {"outcome", name}});
  out.gauge("basal_priority_queued_tasks", "Background tasks that wait, by level.");
  for (const auto& level : levels)
    out.value(level.queued_now, {{"level", level.name}});
  out.gauge("basal_priority_running_tasks", "Background tasks under way, by level.");
  for (const auto& level : levels)
    out.value(level.running_now, {{"level", level.name}});
  out.gauge("basal_priority_oldest_task_seconds",
            "For how long the oldest background task of a level has waited.");
  for (const auto& level : levels)
    out.value(static_cast<double>(level.oldest_us) / 1e6, {{"level", level.name}});
}

void write_times(exposition& out, const actors::time_stats& x, labels of = {}) {
  std::array<double, actors::time_limits> within{};
  std::copy_n(x.within.begin(), std::min(x.within.size(), within.size()), within.begin());
  out.times(static_cast<double>(x.count), seconds_of_ns(x.sum_ns), within, time_limits_in_seconds(),
            std::move(of));
}

/// Nothing where no solver has told of itself.
void write_solver(exposition& out, const actors::solving_stats& x) {
  if (x == actors::solving_stats{})
    return;
  out.counter("basal_solver_solves_total",
              "Requests that ended, by the method that made x and the state of the result; those "
              "without a result have the method none, and the reason as their state.");
  for (const auto& method : x.methods)
    for (const auto& [state, n] : method.ended)
      out.value(n, {{"method", method.name}, {"state", state}});
  for (const auto& [reason, n] : x.failures)
    out.value(n, {{"method", "none"}, {"state", reason}});
  out.histogram("basal_solver_solve_seconds", "Time of solves, from permit to result.");
  for (const auto& [name, ended, times] : x.methods)
    write_times(out, times, {{"method", name}});
  out.gauge("basal_solver_waiting_requests", "Requests that have neither begun nor failed.");
  out.value(x.waiting);
}

/// All kinds, so that a rule on one that has never been raised has something to look at.
void write_warnings(exposition& out, const std::vector<actors::warning>& now) {
  out.gauge("basal_warnings_active", "Warnings that hold now, by kind.");
  for (std::size_t i = 0; i < actors::warning_kinds; ++i) {
    const auto* name = describe(static_cast<actors::warning_kind>(i)).name;
    out.value(std::count_if(now.begin(), now.end(),
                            [&](const actors::warning& x) { return x.kind == name; }),
              {{"kind", name}});
  }
}

void write_process(exposition& out, const process_facts& x) {
  out.counter("process_cpu_seconds_total", "User and system CPU time.");
  out.value(x.cpu_seconds);
  out.gauge("process_resident_memory_bytes", "Resident memory.");
  out.value(x.resident_bytes);
  out.gauge("process_start_time_seconds", "Start of the process since 1970.");
  out.value(x.start_time_seconds);
  out.gauge("process_open_fds", "Open file descriptors.");
  out.value(x.open_fds);
}

} // namespace

std::string metrics_text(const actors::system_stats& stats, const process_facts& process) {
  exposition out;
  std::uint64_t folded = 0;
  out.gauge("basal_build_info", "1, with what this was built from.");
  out.value(
    1, {{"version", version}, {"commit", commit}, {"caf", caf_version()}, {"compiler", compiler}});
  write_executors(out, stats);
  write_posse(out, stats.posse);
  write_functions(out, stats.posse, folded);
  write_actors(out, stats, folded);
  write_background(out, stats.background);
  write_solver(out, stats.solver);
  out.gauge("basal_gc_heap_bytes", "The collected heap, garbage included.");
  out.value(stats.heap_bytes);
  out.histogram("basal_gc_pause_seconds", "Times for which collections have stopped all threads.");
  write_times(out, stats.heap_pauses);
  out.counter("basal_recorder_dropped_events_total",
              "Records of the flight recorder that a stream was too slow for.");
  out.value(stats.lost_records);
  write_warnings(out, stats.warnings);
  out.gauge("basal_metrics_folded_labels", "Names that this scrape has added up as \"other\".");
  out.value(folded);
  write_process(out, process);
  return out.text();
}

} // namespace basal::observer
