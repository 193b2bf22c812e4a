#include "backstop.hpp"

#include <basal/executors/detail/thread_heritage.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/report.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace basal::executors {

backstop::backstop(executor_pool& pool) : pool_(pool), seen_(pool.size()) {
}

backstop::~backstop() {
  stop();
}

void backstop::stop() {
  {
    std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable())
    thread_.join();
}

void backstop::wake() noexcept {
  {
    std::lock_guard guard{mutex_};
    awake_.store(true, std::memory_order_seq_cst);
    if (!stopping_ && !thread_.joinable() && !pool_.config().simulate.stepped)
      begin_locked();
  }
  changed_.notify_one();
}

/// Where the kernel refuses the thread, the pool does without: `awake_` says that there is nobody
/// to wake.
void backstop::begin_locked() noexcept {
  const no_signals quiet;
  try {
    thread_ = std::thread{[this] {
      pool_.heritage_->take_on();
      const auto name = pool_.config().name + ".bs";
      pthread_setname_np(pthread_self(), name.c_str());
      thread_main();
    }};
  } catch (const std::exception& refused) { // std::system_error, std::bad_alloc
    refused_.store(true, std::memory_order_relaxed);
    report(report_level::warning, "basal.executors",
           "no thread that looks after long tasks: " + std::string{refused.what()});
  }
}

void backstop::thread_main() noexcept {
  std::unique_lock guard{mutex_};
  int quiet_ticks = 0;
  while (!stopping_) {
    if (!awake_.load(std::memory_order_relaxed)) { // written under the mutex
      changed_.wait(guard);
      quiet_ticks = 0;
      continue;
    }
    changed_.wait_for(guard, tick);
    look_around();
    if (!all_asleep()) {
      quiet_ticks = 0;
    } else if (++quiet_ticks == ticks_to_sleep) {
      awake_.store(false, std::memory_order_seq_cst);
      if (!all_asleep())
        awake_.store(true, std::memory_order_relaxed);
      quiet_ticks = 0;
    }
  }
}

bool backstop::all_asleep() const noexcept {
  if (pool_.config().hosted)
    return pool_.idle_.num_parked() >= pool_.num_hosting();
  return pool_.idle_.num_awake() == 0;
}

namespace {

/// The CPU time of a thread of this process, by its number in the kernel; 0 if there is none.
std::int64_t cpu_ns_of(std::int32_t thread) noexcept {
  // As pthread_getcpuclockid() makes it.
  const auto clock = static_cast<clockid_t>(~static_cast<std::uint32_t>(thread) << 3 | 6);
  timespec used{};
  if (thread == 0 || clock_gettime(clock, &used) != 0)
    return 0;
  return used.tv_sec * std::int64_t{1'000'000'000} + used.tv_nsec;
}

/// Whether it waits for something else than a CPU, as far as the kernel tells. Some 10 us.
bool has_blocked(std::int32_t thread) noexcept {
  char text[256];
  std::snprintf(text, sizeof text, "/proc/self/task/%d/stat", thread);
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return true;
  const auto read = ::read(file, text, sizeof text);
  close(file);
  // The state is the letter behind the name, which may hold any character (proc_pid_stat(5)).
  const std::string_view line{text, static_cast<std::size_t>(std::max<ssize_t>(0, read))};
  const auto name_end = line.rfind(')');
  return name_end == line.npos || line.substr(name_end, 3) != ") R";
}

} // namespace

void backstop::look_around() noexcept {
  std::size_t stuck = 0;
  std::size_t blocked = 0;
  std::size_t at_long_task = 0; // with CPUs to themselves
  std::int64_t waited_ns = 0;
  bool work_is_stuck = false; // in the queues of an executor that does not come to them
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    auto& e = pool_.at(i);
    if (e.attentive().load(std::memory_order_relaxed))
      e.raise_attention();
    auto& s = seen_[i];
    const snapshot before = s;
    s.tasks_run = e.counters_.tasks_run.get();
    s.newest = e.newest_.load(std::memory_order_relaxed);
    s.same_task = s.tasks_run == before.tasks_run && e.doing() != nullptr;
    const auto thread = e.thread_.load(std::memory_order_relaxed);
    s.cpu_ns = cpu_ns_of(thread);
    s.waited_ns = e.waited_ns_.load(std::memory_order_relaxed);
    waited_ns += s.waited_ns - before.waited_ns;
    const auto used = before.cpu_ns != 0 && s.cpu_ns != 0 ? s.cpu_ns - before.cpu_ns : -1;
    blocked += s.same_task && before.same_task && used >= 0 && used < least_cpu_ns
               && has_blocked(thread); // else others have had its CPU
    const bool takes_long = s.same_task && used >= own_cpu_ns;
    e.is_stuck_.store(takes_long, std::memory_order_relaxed);
    at_long_task += takes_long ? 1 : 0;
    s.left_behind = s.same_task && s.newest != nullptr && s.newest == before.newest;
    stuck += s.same_task ? 1 : 0;
    work_is_stuck = work_is_stuck || (s.same_task && e.num_waiting() > 0);
  }
  pool_.num_blocked_.store(blocked, std::memory_order_relaxed);
  pool_.long_work_.tick();
  const auto cpus = pool_.config().share_cpus;
  const auto present = pool_.at(0).now();
  const auto elapsed = tick_clock::to_duration(present - std::exchange(seen_at_, present)).count();
  if (pool_.has_more_than_cpus()
      && (at_long_task >= cpus || leave_cpu_unused(pool_.num_running(), cpus, waited_ns, elapsed)))
    pool_.note_long_work(2 * tick); // what waited has done so since the look before the last one
  if (work_is_stuck && pool_.work_stays())
    pool_.let_work_go_around();
  if (pool_.cpu_wish_.is_there())
    serve_wish(work_is_stuck || stuck >= pool_.idle_.num_awake());
  else if (stuck != 0 && stuck >= pool_.idle_.num_awake() && pool_.work_for_searchers())
    pool_.notify(); // what was to be taken soon, see executor_pool::is_taken_soon
  // With all executors at long tasks nobody would come to an item sooner, so it stays: it runs
  // next, while its message is in the cache.
  if (stuck == pool_.size())
    return;
  for (std::size_t i = 0; i < pool_.size(); ++i)
    if (seen_[i].left_behind)
      move_newest(pool_.at(i));
}

/// Wakes an executor for work that waits for a CPU, or that nobody who is awake comes to.
void backstop::serve_wish(bool in_any_case) noexcept {
  if (!in_any_case)
    pool_.note_free_cpu();
  else if (pool_.work_for_searchers())
    pool_.idle_.notify();
}

void backstop::move_newest(executor& e) noexcept {
  auto* object = e.newest_.exchange(nullptr, std::memory_order_acq_rel);
  if (object == nullptr)
    return;
  work_item item{object, pool_.config().newest_ops};
  pool_.injection_.push_accepted({&item, 1});
  pool_.notify();
}

} // namespace basal::executors
