#include <basal/actors/detail/scheduler.hpp>

#include "actor_watch.hpp"
#include "arrivals.hpp"
#include "forked_systems.hpp"
#include "log_name.hpp"
#include "logged_aout.hpp"
#include "next_message.hpp"
#include "release_unrun.hpp"
#include "testing_scheduler.hpp"
#include "turn.hpp"
#include "turn_counts.hpp"

#include <basal/actors/detail/awaited_answer.hpp>
#include <basal/actors/log.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/detail/time_slice.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/report.hpp>
#include <basal/posse/effects.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/config.hpp>
#include <caf/execution_unit.hpp>
#include <caf/exit_reason.hpp>
#include <caf/local_actor.hpp>
#include <caf/logger.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <typeinfo>

namespace basal::actors {

using namespace std::chrono_literals;
using executors::report;
using executors::report_level;

namespace {

constexpr const char* log_name = log_names[static_cast<std::size_t>(log_module::actors)];

/// The shortest slice that the kernel has: a message executor that is woken while other threads
/// compute on all CPUs gets one of these at once.
constexpr auto message_slice = 100us;

/// As if each computation that is seen had kept messages waiting for that long, so that they have
/// executors beyond the CPUs for 200 ms more. A compute executor counts that has been busy for
/// longer than it takes to wake an executor.
constexpr auto computation_lasts = 3ms;

/// Whether the system prints or writes any log.
bool logs(caf::actor_system& system) {
  return system.logger().verbosity() != CAF_LOG_LEVEL_QUIET;
}

} // namespace

/// CAF's name for a message executor. Actors keep a pointer to the one that ran them last and may
/// use it from another thread, so it asks for the thread it is on.
class scheduler::unit final : public caf::execution_unit {
public:
  explicit unit(scheduler& owner)
    : execution_unit(&owner.system()), owner_(owner), watch_(owner.watch()) {
  }

  void exec_later(caf::resumable* job) override {
    owner_.queue(job, watch_.times_next());
  }

  std::size_t max_throughput() const noexcept {
    return owner_.max_throughput();
  }

  /// Whether somebody watches actors.
  bool is_watched() const noexcept {
    return watch_.is_on();
  }

  actor_watch& watch() const noexcept {
    return watch_;
  }

  /// The counts of `self`, whose unit this is, while somebody watches; null where there is no
  /// memory for them.
  actor_lane* lane(const executors::executor& self) noexcept {
    if (lane_ == nullptr) [[unlikely]]
      lane_ = watch_.lane(self);
    return lane_;
  }

  /// `job` is about to be queued for another turn.
  void waits_again(const caf::resumable& job) const noexcept {
    if (watch_.times_next()) [[unlikely]]
      watch_.wakes(job);
  }

  /// CAF asks the thread's logger at each message, more than once, and the logger takes a lock that
  /// all threads share. Where nothing is logged, no logger gives the same answer. To be called
  /// before each actor, since CAF sets the logger of a thread that spawns.
  void silence() const noexcept {
    if (quiet_ && caf::logger::current_logger() != nullptr)
      caf::logger::set_current_actor_system(nullptr);
  }

  /// `job` has had its turn. Looked at at most once a quantum.
  void has_left_messages(caf::resumable& job, const executors::executor& self) {
    const auto present = self.last_look();
    if (present - backlog_seen_ < self.quantum_ticks())
      return;
    backlog_seen_ = present;
    owner_.backlogs_.add(&job);
  }

private:
  scheduler& owner_;
  actor_watch& watch_;
  actor_lane* lane_ = nullptr;     // its thread's own, as the next one
  std::uint64_t backlog_seen_ = 0; // ticks
  const bool quiet_ = !logs(owner_.system());
};

namespace {

/// Before main().
const struct carrier_installer {
  carrier_installer() noexcept {
    executors::carriers::add(carries_log_name);
  }
} install_carrier;

} // namespace

const executors::work_ops scheduler::job_ops{
  &scheduler::run,
  [](void* job) noexcept { release_unrun(static_cast<caf::resumable*>(job)); },
  "an actor",
  [](const void* job) noexcept -> const std::type_info& {
    return typeid(*static_cast<const caf::resumable*>(job));
  },
  [](void* job, basal::detail::recording& into) noexcept {
    return next_message_name(*static_cast<caf::resumable*>(job), into);
  },
  [](void* job) noexcept { return has_message(*static_cast<caf::resumable*>(job)); },
};

namespace {

// Time until the first report on a stop that still waits, and between later ones.
constexpr auto first_report = 10s;
constexpr auto later_report = 60s;

// A constructor of caf::actor_system that throws locks a mutex that is already destroyed (0.17.6).
[[noreturn]] void give_up(const std::exception& problem) {
  report(report_level::critical, log_name,
         std::string{"cannot start the actor system: "} + problem.what());
  std::terminate();
}

/// CAF's destructor would wait for its printer, for detached actors and for its logger, and ours
/// for the clock: threads that a child of fork() does not have. One of them may hold a lock of the
/// log.
[[noreturn]] void end_child() noexcept {
  executors::report_to_stderr(report_level::critical, log_name,
                              "a child of fork() destroys the actor system of its parent, at its "
                              "exit() or its return from main, and has none of its threads; end "
                              "the child by _exit() or exec()");
  std::abort();
}

/// Whether CAF's destructor of an actor system may have sent to `job` before it stops modules.
bool is_hidden_actor(const caf::resumable& job) {
  const auto* actor = dynamic_cast<const caf::local_actor*>(&job);
  return actor != nullptr && !actor->getf(caf::abstract_actor::is_registered_flag);
}

/// Whether `job` is an actor of CAF's own that is told to end as a system that stops tells it.
bool is_told_to_end(caf::resumable& job) {
  if (!is_hidden_actor(job) || job.subtype() != caf::resumable::scheduled_actor)
    return false;
  auto* next = static_cast<caf::scheduled_actor&>(job).peek_at_next_mailbox_element();
  return next != nullptr && next->content().match_elements<caf::exit_msg>()
         && next->content().get_as<caf::exit_msg>(0).reason == caf::exit_reason::user_shutdown;
}

/// Whether the next turn of `job` is the first one of an actor.
bool is_newborn(const caf::resumable& job) {
  return job.subtype() == caf::resumable::scheduled_actor
         && !static_cast<const caf::scheduled_actor&>(job).getf(
           caf::abstract_actor::is_initialized_flag);
}

} // namespace

scheduler::scheduler(caf::actor_system& system) : super(system) {
}

scheduler::~scheduler() = default;

scheduler* scheduler::of(caf::actor_system& system) noexcept {
  return dynamic_cast<scheduler*>(&system.scheduler());
}

caf::actor_system::module* scheduler::make(caf::actor_system& system, caf::detail::type_list<>) {
  const auto policy = caf::get_or(system.config(), "scheduler.policy", caf::atom("basal"));
  if (policy == caf::atom("testing"))
    return new testing_scheduler(system);
  return new scheduler(system);
}

void scheduler::init(caf::actor_system_config& cfg) {
  configure(system(), cfg);
  max_throughput_ = options_.max_throughput;
  num_workers_ = options_.message_executors;
}

void scheduler::start() {
  try {
    start_executors();
    clock_.start(system(), options_.check_effects);
    super::start(); // CAF's printer, on a thread of its own
    if (options_.log.aout) {
      aout_ = std::make_unique<logged_aout>();
      aout_->start(system());
    }
    forked_systems::add(system());
    log_start();
  } catch (const std::exception& problem) { // std::system_error, std::bad_alloc
    give_up(problem);
  }
}

void scheduler::start_executors() {
  BASAL_ASSERT(messages_ == nullptr && compute_ == nullptr, "an actor system starts once");
  watch_ = std::make_unique<actor_watch>(num_workers());
  for (std::size_t i = 0; i < num_workers(); ++i)
    units_.push_back(std::make_unique<unit>(*this));
  auto config = options_.compute.pool();
  config.name = "basal.msg";
  config.executors = num_workers();
  config.share_cpus = executors::usable_cpus();
  config.keep_apart = true;
  config.steal_after = config.quantum;              // as continuations
  config.newest_ops = &job_ops;                     // an actor that was just sent to runs next
  config.look_worth = executors::executor::wake_up; // what it saves to be awake
  config.looks_per_run = 1; // the next message may be anybody's, and be long in coming
  config.hooks.context = this;
  config.hooks.thread_starts = [](void* context, executors::executor& self) noexcept {
    auto& owner = *static_cast<scheduler*>(context);
    self.attachment() = owner.units_[self.index()].get();
    CAF_SET_LOGGER_SYS(&owner.system());
    owner.system().thread_started();
    executors::detail::use_time_slice(message_slice);
  };
  config.hooks.frees_cpu
    = [](void* context) noexcept { static_cast<scheduler*>(context)->compute_->note_free_cpu(); };
  config.hooks.has_cpu = [](void* context) noexcept {
    return static_cast<scheduler*>(context)->messages_wait_for_computations();
  };
  config.hooks.crowds = [](void* context, const executors::executor& waker) noexcept {
    return static_cast<const scheduler*>(context)->compute_->is_crowded_by(waker);
  };
  config.hooks.may_look = [](void* context, const executors::executor& looker) noexcept {
    return !looker.pool().work_takes_long() // else it is in the way of who steals from that
           && static_cast<const scheduler*>(context)->compute_->has_cpu_to_look(looker);
  };
  config.hooks.overran = [](void* context, executors::executor& self, executors::work_item work,
                            std::uint64_t ticks) noexcept {
    if (work.ops == &job_ops)
      static_cast<scheduler*>(context)->overruns_.add(static_cast<caf::resumable*>(work.object),
                                                      self.index(), ticks, self.quantum_ticks());
  };
  config.hooks.thread_stops = [](void* context, executors::executor&) noexcept {
    static_cast<scheduler*>(context)->system().thread_terminates();
  };
  if (logs(system())) {
    options_.compute.thread_context = &system();
    options_.compute.thread_starts = [](void* system, executors::executor&) noexcept {
      CAF_SET_LOGGER_SYS(static_cast<caf::actor_system*>(system));
    };
  }
  compute_ = std::make_unique<posse::runtime>(options_.compute);
  messages_ = std::make_unique<executors::executor_pool>(std::move(config));
  compute_->attach(*messages_);
  choosers_ = std::make_shared<detail::chooser_host>(
    system(), *messages_, *compute_, options_.adaptive.knobs, options_.adaptive.calibrate);
}

/// A compute executor may have taken the CPU from a message executor for the length of its time
/// slice; and handlers that compute go on to the ends of their quanta. Whoever begins to compute
/// does not look whether messages wait already: these have the backstop.
bool scheduler::messages_wait_for_computations() const noexcept {
  const auto in_any = [](executors::executor_pool& pool, auto is_so) {
    for (std::size_t i = 0; i < pool.size(); ++i)
      if (is_so(pool.at(i)))
        return true;
    return false;
  };
  const bool in_handler = in_any(*messages_, [](executors::executor& each) {
    return each.attentive().load(std::memory_order_relaxed);
  });
  auto& compute = compute_->compute();
  if (!in_handler && compute.num_running() == 0)
    return false;
  const auto long_ago = executors::tick_clock::to_ticks(executors::executor::wake_up);
  if (in_handler || in_any(compute, [=](const executors::executor& each) {
        return each.working_for() >= long_ago;
      }))
    messages_->expect_long_work(computation_lasts);
  return true;
}

void scheduler::log_start() const {
  using std::chrono::microseconds;
  if (!logs(log_module::actors, log_level::debug))
    return;
  logger_of(log_module::actors)
    .debug("the actor system starts: {} message executors and {} compute executors on {} CPUs, "
           "quantum {} us, CAF {}.{}.{}",
           messages_->size(), compute_->compute().size(), executors::usable_cpus(),
           std::chrono::duration_cast<microseconds>(options_.compute.quantum).count(),
           CAF_VERSION / 10000, CAF_VERSION / 100 % 100, CAF_VERSION % 100);
}

void scheduler::stop() {
  if (forked_systems::has(system()))
    end_child();
  forked_systems::remove(system());
  if (aout_ != nullptr)
    aout_->drain();
  stop_actors();
  if (aout_ != nullptr)
    aout_->stop();
  clock_.stop();
  compute_->cancel();
  detail::awaited_answer::end_all(system(), *this);
  stop_in_time(*messages_);
  stop_in_time(*compute_);
  executors::report_kind::report_held_back();
}

/// A handler that never returns would keep the program for ever, without a word.
template <class Executors>
void scheduler::stop_in_time(Executors& all) {
  using executors::stop_mode;
  const auto asked = std::chrono::steady_clock::now();
  auto until_report = std::chrono::nanoseconds{first_report};
  std::chrono::nanoseconds waited{0};
  for (;;) {
    const auto wait
      = std::min<std::chrono::nanoseconds>(options_.stop_patience - waited, until_report);
    const auto who = all.stop(stop_mode::discard, wait);
    if (who.empty())
      return;
    waited = std::chrono::steady_clock::now() - asked;
    until_report = later_report;
    report(report_level::warning, log_name,
           "the actor system stops, but after "
             + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(waited).count())
             + " ms " + to_string(who));
    if (waited < options_.stop_patience)
      continue;
    report(report_level::critical, log_name,
           "basal.stop-deadline has passed; the program ends. Let handlers return, or call poll() "
           "in long computations.");
    std::terminate();
  }
}

void scheduler::enqueue(caf::resumable* job) {
  BASAL_ASSERT(messages_ != nullptr, "actors run after the system's start");
  queue(job,
        watch_->times_next() || (watch_->is_on() && executors::executor::current() == nullptr));
}

/// @param timed whether the time is noted, for who watches
void scheduler::queue(caf::resumable* job, bool timed) {
  BASAL_ASSERT(job != nullptr, "what is enqueued is an actor");
  // Called for actors that a message wakes or a handler spawns, not for messages to actors that are
  // awake already.
  if (options_.check_effects)
    posse::refuse_effect("sends a message or spawns an actor");
  if (detail::awaited_answer::take_wake_up(job))
    return;
  // A system in which nothing ran has two actors of CAF's own, and wakes no executor to end them.
  if (!has_had_jobs_.load(std::memory_order_relaxed)) [[unlikely]] {
    if (is_told_to_end(*job) && !forked_systems::has(system())) {
      release_unrun(job);
      return;
    }
    has_had_jobs_.store(true, std::memory_order_relaxed);
  }
  if (timed) [[unlikely]]
    watch_->wakes(*job);
  try {
    if (!(is_newborn(*job) ? messages_->submit_newborn({job, &job_ops})
                           : messages_->submit({job, &job_ops})))
      release_unrun(job);
  } catch (const std::logic_error&) {
    // In a child of fork(). CAF's destructor sends to its own actors first, where nothing may be
    // thrown; it calls stop() next.
    if (!is_hidden_actor(*job))
      throw;
  }
}

void scheduler::run(void* object, executors::executor& self) noexcept {
  auto* job = static_cast<caf::resumable*>(object);
  BASAL_ASSERT(self.attachment() != nullptr, "actors run on message executors");
  auto& here = *static_cast<unit*>(self.attachment());
  here.silence();
  if (here.is_watched()) [[unlikely]]
    run_watched(*job, self, here);
  else
    take_uncounted_turn(*job, self, here);
}

void scheduler::run_watched(caf::resumable& job, executors::executor& self, unit& here) noexcept {
  auto& watch = here.watch();
  auto* lane = watch.goes_on(self.last_look()) ? here.lane(self) : nullptr;
  if (lane == nullptr) {
    take_uncounted_turn(job, self, here);
    return;
  }
  if (const auto delay = watch.delay_of(job, self.last_look()); delay != 0)
    lane->delayed(job, delay);
  if (lane->picks()) {
    watch.time_next();
    take_turn(&job, self, here, counted_turn{*lane, self, job});
    return;
  }
  const passed_turn passed{self, job};
  passed.over(*lane, take_uncounted_turn(job, self, here));
}

/// While nobody watches, or one that is not picked while somebody does.
std::uint64_t scheduler::take_uncounted_turn(caf::resumable& job, executors::executor& self,
                                             unit& here) noexcept {
  if (self.is_turn_timed()) [[unlikely]]
    return take_turn(&job, self, here, timed_turn{self, job});
  return take_turn(&job, self, here, uncounted_turn{});
}

/// @param count learns of the turn: uncounted_turn, timed_turn or counted_turn
/// @returns how many messages the actor has handled, at least
template <class Count>
std::uint64_t scheduler::take_turn(caf::resumable* job, executors::executor& self, unit& here,
                                   Count&& count) noexcept {
  turn left{self, here.max_throughput()};
  for (;;) {
    const auto batch = count.limit(left.next_batch());
    switch (job->resume(&here, batch)) {
    case caf::resumable::resume_later:
      if (count.handled(batch) || left.spend(batch))
        break;
      here.has_left_messages(*job, self);
      count.over(false);
      here.waits_again(*job);
      self.push_again({job, &job_ops});
      return left.handled();
    case caf::resumable::done:
      self.look(self.now());
      count.handled(1); // at least: what it was sent is gone with its mailbox
      count.over(true);
      caf::intrusive_ptr_release(job);
      return left.handled() + 1;
    case caf::resumable::awaiting_message:
      // It may have done all its work when it began, where it does not ask the clock.
      if (!left.has_looked())
        self.look(self.now());
      count.handled_all(batch);
      count.over(false);
      caf::intrusive_ptr_release(job);
      return left.handled() + 1;
    case caf::resumable::shutdown_execution_unit:
      return 0;
    }
  }
}

} // namespace basal::actors
