#include "warning_watch.hpp"

#include "thread_facts.hpp"

#include <basal/actors/detail/chooser_host.hpp>
#include <basal/actors/detail/system_core.hpp>
#include <basal/actors/log.hpp>
#include <basal/executors/recorder.hpp>

#include <algorithm>
#include <system_error>

namespace basal::actors {

namespace {

using std::chrono::seconds;

constexpr seconds recorded_time{10};
constexpr seconds between_recordings{60};

/// Of each executor; what it does, of those that have run one piece of work since `before`.
std::vector<thread_facts> threads_of(const executors::executor_pool& pool,
                                     const std::vector<executors::executor_stats>& now,
                                     const std::vector<executors::executor_stats>* before) {
  std::vector<thread_facts> result;
  for (std::size_t i = 0; i < pool.size(); ++i)
    result.push_back(facts_of(pool.at(i), before != nullptr && i < before->size()
                                            && now[i].tasks_run == (*before)[i].tasks_run));
  return result;
}

} // namespace

std::vector<warning> warning_list::update(const std::vector<finding>& found, clock::time_point now,
                                          std::chrono::system_clock::time_point today) {
  using std::chrono::milliseconds;
  for (const auto& f : found) {
    auto at = std::find_if(entries_.begin(), entries_.end(), [&](const entry& e) {
      return e.kind == f.kind && e.what.subject == f.subject;
    });
    if (at == entries_.end()) {
      const auto text = describe(f.kind);
      const auto since = std::chrono::duration_cast<milliseconds>(today.time_since_epoch()).count();
      entries_.push_back(
        {f.kind,
         {text.name, f.subject, {}, text.remedy, static_cast<std::uint64_t>(since)},
         now,
         now});
      at = entries_.end() - 1;
    }
    at->what.cause = f.cause;
    at->last = now;
  }
  std::erase_if(entries_,
                [&](const entry& e) { return now - e.last > (e.raised ? cleared_after : gap); });
  std::vector<warning> raised;
  for (auto& e : entries_)
    if (!e.raised && e.last == now && now - e.first >= describe(e.kind).seen_for) {
      e.raised = true;
      raised.push_back(e.what);
    }
  return raised;
}

std::vector<warning> warning_list::raised() const {
  std::vector<warning> result;
  for (const auto& e : entries_)
    if (e.raised)
      result.push_back(e.what);
  return result;
}

std::vector<warning> warning_watch::update(caf::actor_system& system, const system_stats& stats) {
  const std::lock_guard guard{mutex_};
  const auto time = std::chrono::steady_clock::now();
  if (before_ && time - before_->taken < least_interval)
    return list_.raised();
  auto& core = detail::system_core::of(system, "there are no warnings");
  auto& compute = core.compute().compute();
  const auto* before = before_ ? &before_->stats : nullptr;
  evidence now{
    .taken = time,
    .stats = stats,
    .message_threads = threads_of(core.messages(), stats.message_executors,
                                  before != nullptr ? &before->message_executors : nullptr),
    .compute_threads = threads_of(compute, stats.compute_executors,
                                  before != nullptr ? &before->compute_executors : nullptr),
    .quantum = compute.config().quantum,
    .cpus = executors::usable_cpus(),
    .steal_by = core.compute().config().steal_by,
    .stolen_ns = stolen_ns(),
    .expected_offload_ns = core.choosers()->expected_offload_ns(),
  };
  if (before_)
    for (const auto& raised :
         list_.update(judge(*before_, now), time, std::chrono::system_clock::now()))
      tell(raised);
  before_ = std::move(now);
  return list_.raised();
}

void warning_watch::tell(const warning& raised) {
  auto& log = logger_of(log_module::actors);
  log.warn("warning {}: {} {}", raised.kind, raised.cause, raised.remedy);
  const auto beside = executors::recorder::path_when_fatal();
  const auto now = std::chrono::steady_clock::now();
  if (beside.empty() || (recorded_ && now - *recorded_ < between_recordings))
    return;
  recorded_ = now;
  const auto path = beside + '.' + raised.kind;
  try {
    executors::recorder::write(path, recorded_time);
    log.warn("the last {} s are recorded in {}", recorded_time.count(), path);
  } catch (const std::system_error& problem) {
    log.error("{}", problem.what());
  }
}

} // namespace basal::actors
