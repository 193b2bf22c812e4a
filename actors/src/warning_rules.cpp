#include "warning_rules.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace basal::actors {

namespace {

// All of these are shares of the time between two samples.
constexpr double long_share = 0.2;    // of one executor, in overruns of one type of actor
constexpr double busy_share = 0.97;   // of each executor, where work is said to wait
constexpr double refused_share = 0.2; // of one executor, in looks for thieves that ended alike
constexpr double collection_share = 0.05;

/// Of the time between two samples: an executor that had a CPU for less is judged as if it had had
/// it for that long, since what is left of a short time says little.
constexpr double least_had = 0.25;

/// In quanta: the mean wait of what is ready to run. Programs whose actors all have something to do
/// have long queues and are fine.
constexpr double long_wait_quanta = 100;

constexpr std::uint64_t many_messages = 1000; // below, a mailbox that grows is no news
constexpr double dear_offload = 10;           // times what was expected

/// Looks of a member for thieves in a quantum: runtime_config::quantum.
constexpr double looks_per_quantum = 8;

using executors::executor_stats;

struct interval {
  const evidence& before;
  const evidence& now;
  double seconds;
};

double seconds_of(std::chrono::nanoseconds x) {
  return std::chrono::duration<double>(x).count();
}

std::string number(double x, int digits = 0) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, x);
  return text.data();
}

std::string time_of(double seconds) {
  return seconds >= 1 ? number(seconds, 1) + " s"
                      : number(seconds * 1e3, seconds < 0.01 ? 1 : 0) + " ms";
}

std::string percent(double share) {
  return number(100 * share) + " %";
}

/// How much larger it is now; the fields of a sample may be a few events apart.
std::uint64_t growth(std::uint64_t before, std::uint64_t now) {
  return now > before ? now - before : 0;
}

/// The element of that name in the sample before; an empty one if it is new.
template <class T>
T named(const std::vector<T>& list, const std::string& name) {
  const auto at
    = std::find_if(list.begin(), list.end(), [&](const T& x) { return x.name == name; });
  return at != list.end() ? *at : T{};
}

std::uint64_t steps_of(const executor_stats& x) {
  return x.tasks_run + x.suspensions + x.quantum_ends + x.times_parked;
}

/// Has run one piece of work all the time.
bool stands_still(const executor_stats& before, const executor_stats& now) {
  return steps_of(before) == steps_of(now) && now.load_permille >= 900;
}

double collected_seconds(const interval& x) {
  return 1e-9
         * static_cast<double>(
           growth(x.before.stats.heap_pauses.sum_ns, x.now.stats.heap_pauses.sum_ns));
}

// -- one rule each --------------------------------------------------------------

/// Seconds for which an executor had no CPU although it had work, or was stopped for a collection.
/// @param threads those of its kind
double waited_seconds(const interval& x, std::vector<thread_facts> evidence::*threads,
                      std::size_t executor) {
  const auto& before = x.before.*threads;
  const auto& now = x.now.*threads;
  auto ns = growth(x.before.stolen_ns, x.now.stolen_ns);
  if (executor < before.size() && executor < now.size())
    ns += growth(before[executor].waited_ns, now[executor].waited_ns);
  return 1e-9 * static_cast<double>(ns) + collected_seconds(x);
}

/// The rest of the interval, for an executor that waited for so many seconds.
double had_seconds(const interval& x, double waited) {
  return std::max(x.seconds - waited, least_had * x.seconds);
}

/// Actors that overran again and again. So does an executor's thread that has no CPU: the time for
/// which the executors waited that the type overran on does not count, neither as time that its
/// handlers took nor as time that these executors had.
void find_overruns(const interval& x, std::vector<finding>& found) {
  for (const auto& o : x.now.stats.overruns) {
    const auto old = named(x.before.stats.overruns, o.name);
    double ran = 0;
    double had = 0;
    int executors = 0;
    for (std::size_t i = 0; i < o.quanta_on.size(); ++i) {
      const auto quanta = growth(i < old.quanta_on.size() ? old.quanta_on[i] : 0, o.quanta_on[i]);
      if (quanta == 0)
        continue;
      const auto waited = waited_seconds(x, &evidence::message_threads, i);
      ran += std::max(0., static_cast<double>(quanta) * seconds_of(x.now.quantum) - waited);
      had += had_seconds(x, waited);
      ++executors;
    }
    const auto share = executors > 0 ? ran * executors / had : 0;
    if (share >= long_share)
      found.push_back(
        {warning_kind::long_handler, o.name,
         "Handlers of " + o.name + " have taken " + percent(share)
           + " of an executor's time in pieces of more than a quantum, the longest so "
             "far "
           + time_of(static_cast<double>(o.longest_us) / 1e6)
           + "; what waits behind them waits as long."});
  }
}

/// Executors that run one piece of work and do not get to its end. A computation on a compute
/// executor may take its time.
void find_standing(const interval& x, std::vector<finding>& found) {
  const auto look = [&](const std::vector<executor_stats>& before,
                        const std::vector<executor_stats>& now,
                        const std::vector<thread_facts>& threads, const char* pool,
                        bool may_compute) {
    for (std::size_t i = 0; i < now.size() && i < before.size() && i < threads.size(); ++i) {
      const bool computes = threads[i].kernel_function.empty();
      if (!stands_still(before[i], now[i]) || (computes && may_compute))
        continue;
      const auto name = pool + std::to_string(i);
      const auto work = threads[i].work.empty() ? "one piece of work" : threads[i].work;
      if (computes)
        found.push_back({warning_kind::long_handler, name,
                         name + " computes in " + work
                           + " without a message boundary or a fork; what waits for it waits on."});
      else
        found.push_back({warning_kind::blocked_executor, name,
                         name + " waits in the kernel (" + threads[i].kernel_function + ") in "
                           + work + " and runs nothing else in the meantime."});
    }
  };
  look(x.before.stats.message_executors, x.now.stats.message_executors, x.now.message_threads,
       "basal.msg", false);
  look(x.before.stats.compute_executors, x.now.stats.compute_executors, x.now.compute_threads,
       "basal.cpu", true);
}

/// By Little's law: what waits, over how much of it is taken in a second, is how long it waits. Of
/// more executors than CPUs, short work keeps as many busy as there are CPUs.
void find_waits(const interval& x, std::vector<finding>& found) {
  const auto look = [&](const std::vector<executor_stats>& before,
                        const std::vector<executor_stats>& now, const char* pool) {
    const auto busy = [](const executor_stats& e) {
      return static_cast<double>(e.load_permille) >= 1000 * busy_share;
    };
    const auto enough = std::min(now.size(), x.now.cpus);
    if (now.size() != before.size()
        || static_cast<std::size_t>(std::count_if(now.begin(), now.end(), busy)) < enough)
      return;
    std::uint64_t taken = 0;
    std::uint64_t waiting = 0;
    bool all_stand_still = true;
    for (std::size_t i = 0; i < now.size(); ++i) {
      taken += growth(before[i].tasks_run, now[i].tasks_run);
      waiting += now[i].waiting_now;
      all_stand_still = all_stand_still && stands_still(before[i], now[i]);
    }
    if (all_stand_still) // has a warning of its own
      return;
    const auto wait = static_cast<double>(waiting) * x.seconds
                      / static_cast<double>(std::max<std::uint64_t>(taken, 1));
    if (wait >= long_wait_quanta * seconds_of(x.now.quantum))
      found.push_back({warning_kind::long_wait, pool,
                       "As many " + std::string{pool}
                         + " executors are busy as can run at once, and what is ready to run waits "
                           "for "
                         + time_of(wait) + " (" + std::to_string(waiting) + " pieces of work)."});
  };
  look(x.before.stats.message_executors, x.now.stats.message_executors, "message");
  look(x.before.stats.compute_executors, x.now.stats.compute_executors, "compute");
}

void find_mailboxes(const interval& x, std::vector<finding>& found) {
  for (const auto& m : x.now.stats.backlogs) {
    const auto before = named(x.before.stats.backlogs, m.name);
    const bool is_news = m.seen != before.seen;
    if (is_news && m.messages >= many_messages && m.messages > before.messages)
      found.push_back(
        {warning_kind::growing_mailbox, m.name,
         "A mailbox of " + m.name + " has " + std::to_string(m.messages)
           + " messages, and more than a moment ago: it is sent more than it handles."});
  }
}

/// Whether a theft that was refused for that reason is missed, and the remedy. A theft that would
/// not pay is not, nor one of what is too young to tell.
const char* remedy_of(posse::theft_verdict verdict, posse::hysteresis rule) {
  using enum posse::theft_verdict;
  switch (verdict) {
  case cabal_full:
    return "raise basal.cabal-limit, or the call's own limit";
  case no_room:
    return "raise basal.memory-limit";
  case out_of_memory:
    return "give the process more memory";
  case too_young:
    return rule == posse::hysteresis::quantum ? "set basal.steal-by to worth" : nullptr;
  case single:
    return "set basal.victims to run_victim, or fork more than once";
  case delegate_oldest:
  case delegate_two:
  case nobody_idle:
  case actors_first:
  case once_a_quantum:
  case not_worth_it:
  case in_sequence:
  case victim_goes_on:
    break;
  }
  return nullptr;
}

/// Looks that met nobody idle do not count: on a busy machine an executor that was woken waits for
/// a CPU, and counts as one that runs, while those that compute could well have had help.
void find_thefts(const interval& x, std::vector<finding>& found) {
  const auto& before = x.before.stats.posse;
  const auto& now = x.now.stats.posse;
  std::uint64_t idle = 0;
  for (const auto& e : x.now.stats.compute_executors)
    idle += e.load_permille < 500 ? 1 : 0;
  if (now.thefts != before.thefts || idle == 0)
    return;
  posse::theft_verdict main{};
  std::uint64_t most = 0;
  now.verdicts.for_each([&](posse::theft_verdict verdict, std::uint64_t n) {
    const auto grown = growth(before.verdicts[verdict], n);
    if (verdict != posse::theft_verdict::nobody_idle && grown > most) {
      main = verdict;
      most = grown;
    }
  });
  // The computations may have been on whichever executor had least of a CPU.
  double waited = 0;
  for (auto threads : {&evidence::message_threads, &evidence::compute_threads})
    for (std::size_t i = 0; i < (x.now.*threads).size(); ++i)
      waited = std::max(waited, waited_seconds(x, threads, i));
  const auto refused = static_cast<double>(most) / looks_per_quantum * seconds_of(x.now.quantum)
                       / had_seconds(x, waited);
  const auto* remedy = remedy_of(main, x.now.steal_by);
  if (remedy != nullptr && refused >= refused_share)
    found.push_back({warning_kind::nothing_stolen, describe(main).name,
                     "Nothing is stolen from computations that fork, although "
                       + std::to_string(idle) + " compute executors are idle: "
                       + describe(main).meaning + ". To change that, " + remedy + "."});
}

void find_memory_limit(const interval& x, std::vector<finding>& found) {
  const auto ended = growth(x.before.stats.posse.over_limit, x.now.stats.posse.over_limit);
  const auto near = growth(x.before.stats.posse.near_limit, x.now.stats.posse.near_limit);
  if (ended > 0)
    found.push_back({warning_kind::memory_limit,
                     {},
                     std::to_string(ended)
                       + " computations have ended at their memory limit within "
                       + time_of(x.seconds) + "."});
  else if (near > 0)
    found.push_back({warning_kind::memory_limit,
                     {},
                     std::to_string(near)
                       + " computations have used more than 80 % of their memory limit within "
                       + time_of(x.seconds) + "."});
}

void find_collections(const interval& x, std::vector<finding>& found) {
  const auto paused = collected_seconds(x);
  if (paused >= collection_share * x.seconds)
    found.push_back({warning_kind::collection,
                     {},
                     "Collections of the shared heap have stopped all threads for "
                       + percent(paused / x.seconds) + " of the time."});
}

void find_offloads(const interval& x, std::vector<finding>& found) {
  for (const auto& c : x.now.stats.choosers) {
    const auto before = named(x.before.stats.choosers, c.name);
    const auto expected = static_cast<double>(x.now.expected_offload_ns);
    const auto costs = static_cast<double>(c.offload_overhead.typical_ns);
    const bool is_news
      = c.counts[mab::event::offload_decision] != before.counts[mab::event::offload_decision];
    if (is_news && expected > 0 && costs >= dear_offload * expected)
      found.push_back({warning_kind::dear_offload, c.name,
                       "To send " + c.name + " to a compute executor costs "
                         + number(costs / 1e3, 1) + " us, " + number(costs / expected)
                         + " times what was expected."});
  }
}

void find_lost_records(const interval& x, std::vector<finding>& found) {
  const auto lost = growth(x.before.stats.lost_records, x.now.stats.lost_records);
  if (lost > 0)
    found.push_back({warning_kind::lost_records,
                     {},
                     "The stream of flight records has lost " + std::to_string(lost)
                       + " of them within " + time_of(x.seconds) + "."});
}

void find_refused(const interval& x, std::vector<finding>& found) {
  const auto refused = [](const background_stats& b) { return b.rejected + b.timed_out; };
  const auto grown = growth(refused(x.before.stats.background), refused(x.now.stats.background));
  if (grown > 0)
    found.push_back({warning_kind::refused_tasks,
                     {},
                     std::to_string(grown) + " background tasks were refused within "
                       + time_of(x.seconds)
                       + ", for want of room or because they waited too long."});
}

} // namespace

std::vector<finding> judge(const evidence& before, const evidence& now) {
  const interval x{before, now, seconds_of(now.taken - before.taken)};
  std::vector<finding> found;
  if (x.seconds <= 0)
    return found;
  find_overruns(x, found);
  find_standing(x, found);
  find_waits(x, found);
  find_mailboxes(x, found);
  find_thefts(x, found);
  find_memory_limit(x, found);
  find_collections(x, found);
  find_offloads(x, found);
  find_lost_records(x, found);
  find_refused(x, found);
  return found;
}

} // namespace basal::actors
