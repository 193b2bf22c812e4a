#include <basal/posse/runtime.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/placement.hpp>
#include <basal/posse/detail/function_record.hpp>
#include <basal/posse/detail/pace.hpp>

namespace basal::posse {

namespace {

/// The longest time that a compute executor looks for the next parallel region before it sleeps:
/// some ten times the cost of waking it, since other executors wait for it in the meantime.
constexpr auto look_worth = std::chrono::milliseconds{1};

/// Threads that call at the same time and each run what they call, where these may have all CPUs:
/// the kernel shares these out among them, and one that was away for a while, and calls briefly,
/// goes first. In the queue of the compute executors it would wait behind what they have begun.
constexpr std::size_t least_callers = 16;

constexpr auto never = std::numeric_limits<std::uint64_t>::max();

std::uint64_t ticks_of(std::uint64_t ns) {
  return executors::tick_clock::to_ticks(std::chrono::nanoseconds{ns});
}

/// Compute executors that somebody asks for beyond the number of CPUs are to be of use, too.
std::size_t cpus_of(const runtime_config& config) {
  const auto& simulated = config.simulate;
  if (simulated.cpus == 0 && simulated.stepped)
    return std::numeric_limits<std::size_t>::max();
  return std::max(config.compute_executors,
                  simulated.cpus != 0 ? simulated.cpus : executors::usable_cpus());
}

/// Nobody waits awake where time is simulated, or where there is one CPU.
std::uint64_t stay_ticks(const runtime_config& config) {
  const auto& simulated = config.simulate;
  const auto cpus = simulated.cpus != 0 ? simulated.cpus : executors::usable_cpus();
  if (config.steal_by != hysteresis::worth || simulated.stepped || simulated.ticks != nullptr
      || cpus < 2)
    return 0;
  return executors::tick_clock::to_ticks(config.stay);
}

runtime_config validated(runtime_config config) {
  config.validate();
  return config;
}

} // namespace

runtime::runtime(runtime_config config)
  : config_(validated(config)),
    quantum_ticks_(executors::tick_clock::to_ticks(config.quantum)),
    awake_ticks_(ticks_of(config.costs.awake_ns)),
    asleep_ticks_(ticks_of(config.costs.asleep_ns)),
    hatch_ticks_(stay_ticks(config)),
    cpus_(cpus_of(config)),
    least_offer_(config.steal_by != hysteresis::worth ? never
                 : config.costs.measure               ? awake_ticks_ / 2
                                                      : 2 * awake_ticks_),
    least_left_(cpus_ > 1 ? 0 : pace::many),
    victims_(config.victims) {
  auto pool = config.pool();
  pool.name = "basal.cpu";
  pool.look_worth = look_worth;
  pool.keep_apart = true;
  pool.hooks = waiting_hooks();
  pool.hooks.has_cpu = [](void* self) noexcept {
    return static_cast<const runtime*>(self)->has_cpu_for_queued_work();
  };
  pool.hooks.frees_cpu
    = [](void* self) noexcept { static_cast<const runtime*>(self)->tell_clients_of_free_cpu(); };
  if (config_.thread_starts != nullptr)
    pool.hooks.thread_starts = [](void* self, executors::executor& starts) noexcept {
      const auto& mine = static_cast<runtime*>(self)->config_;
      mine.thread_starts(mine.thread_context, starts);
    };
  compute_ = std::make_unique<executors::executor_pool>(std::move(pool));
  attach_locked(*compute_);
}

executors::pool_hooks runtime::waiting_hooks() noexcept {
  executors::pool_hooks result;
  result.context = this;
  result.goes_idle = [](void* self, executors::executor& idle) noexcept {
    static_cast<runtime*>(self)->ask(idle);
  };
  result.lingers = [](void* self, executors::executor& idle) noexcept {
    return static_cast<runtime*>(self)->theft_expected_within(idle);
  };
  return result;
}

runtime::~runtime() {
  cancel();
  stop(executors::stop_mode::discard);
}

void runtime::attach(executors::executor_pool& clients) {
  std::lock_guard guard{attach_mutex_};
  if (clients_ == max_client_pools)
    throw std::length_error("basal: a runtime serves at most " + std::to_string(max_client_pools)
                            + " pools beside its own");
  attach_locked(clients);
  ++clients_;
}

void runtime::attach_locked(executors::executor_pool& clients) {
  auto count = pool_count_.load(std::memory_order_relaxed);
  BASAL_ASSERT(std::find(pools_, pools_ + count, &clients) == pools_ + count,
               "a pool is attached to a runtime once");
  BASAL_ASSERT(count < std::size(pools_), "a runtime has room for its pools");
  pools_[count] = &clients;
  pool_cells_[count]
    = {&clients, clients.size(), std::make_unique<detail::executor_cells[]>(clients.size())};
  slots_.store(count + 1, std::memory_order_release);
  pool_count_.store(count + 1, std::memory_order_release);
}

executors::executor_pool* runtime::make_callers() {
  if (config_.simulate.stepped)
    return nullptr;
  compute_->expect_threads(); // those of callers make no sense without
  std::lock_guard guard{attach_mutex_};
  if (own_callers_ == nullptr && !stopped_) {
    auto pool = config_.pool();
    pool.name = "basal.call";
    if (compute_->size() >= cpus_) // else its number is to bound the CPUs that are used
      pool.executors
        = std::clamp(2 * compute_->size(), least_callers, executors::pool_config::max_executors);
    pool.pin = executors::pinning::none;
    pool.hosted = true;
    pool.look_worth = look_worth;
    pool.hooks = waiting_hooks();
    pool.hooks.frees_cpu
      = [](void* self) noexcept { static_cast<runtime*>(self)->note_free_cpu(); };
    auto made = std::make_unique<executors::executor_pool>(std::move(pool));
    attach_locked(*made);
    own_callers_ = std::move(made);
    callers_.store(own_callers_.get(), std::memory_order_release);
  }
  return own_callers_.get();
}

void runtime::cancel() noexcept {
  cancelled_.store(true, std::memory_order_relaxed);
  auto pools = pool_count_.load(std::memory_order_acquire);
  for (std::size_t p = 0; p < pools; ++p)
    for (std::size_t i = 0; i < pools_[p]->size(); ++i)
      pools_[p]->at(i).raise_attention();
}

void runtime::stop(executors::stop_mode mode) {
  std::ignore = stop(mode, std::chrono::nanoseconds::max());
}

std::vector<executors::straggler> runtime::stop(executors::stop_mode mode,
                                                std::chrono::nanoseconds patience) {
  const auto asked = std::chrono::steady_clock::now();
  if (auto who = compute_->stop(mode, patience); !who.empty())
    return who;
  {
    std::lock_guard guard{attach_mutex_};
    stopped_ = true; // from now on nobody makes the pool of callers
  }
  if (own_callers_ != nullptr)
    if (auto who = own_callers_->stop(mode, patience - (std::chrono::steady_clock::now() - asked));
        !who.empty())
      return who;
  // Only executors that ask look at the pools; they may go from now on.
  pool_count_.store(0, std::memory_order_release);
  return {};
}

void runtime::await(executors::awaited_work& work, const call_options* options) {
  using executors::errand_end;
  const auto end = options != nullptr ? work.run_on(*compute_, {options->deadline, options->stop})
                                      : work.run_on(*compute_);
  if (end == errand_end::expired || end == errand_end::stopped)
    called_off_.fetch_add(1, std::memory_order_relaxed);
  switch (end) {
  case errand_end::ran:
    return;
  case errand_end::refused:
    throw runtime_stopped{};
  case errand_end::discarded:
    throw cancelled{};
  case errand_end::expired:
    throw cancelled{cancel_reason::deadline};
  case errand_end::stopped:
    throw cancelled{cancel_reason::stop_requested};
  }
}

std::size_t runtime::num_available() const noexcept {
  const auto idle = compute_->num_idle();
  const auto callers = busy_callers();
  if (idle <= callers)
    return 0;
  return std::min(idle - callers, num_free_cpus(callers));
}

std::size_t runtime::num_running(std::size_t callers) const noexcept {
  auto running = callers;
  const auto* of_callers = callers_.load(std::memory_order_acquire);
  const auto pools = pool_count_.load(std::memory_order_acquire);
  for (std::size_t p = 0; p < pools; ++p)
    if (pools_[p] != of_callers)
      running += pools_[p]->num_running();
  return running;
}

std::size_t runtime::num_free_cpus(std::size_t callers) const noexcept {
  return cpus_ - std::min(cpus_, num_running(callers));
}

/// Half of the CPUs are there for it in any case: what message executors that are always busy would
/// leave it where both kinds have as many threads.
bool runtime::has_cpu_for_queued_work() const noexcept {
  return compute_->num_running() < cpus_ / 2 || num_free_cpus(busy_callers()) > 0;
}

bool runtime::is_crowded_by(const executors::executor& waker) const noexcept {
  if (waker.pool().num_looking() > 0) // one that is awake
    return false;
  const auto looking = compute_->num_looking();
  const bool looks_soon = waker.has_merged() && compute_->num_running() > 0;
  return (looking > 0 || looks_soon) && num_free_cpus(busy_callers()) <= looking;
}

bool runtime::has_cpu_to_look(const executors::executor& looker) const noexcept {
  const auto looking = compute_->num_looking() + looker.pool().num_looking(); // it among them
  return num_free_cpus(busy_callers()) > looking;
}

void runtime::note_free_cpu() noexcept {
  compute_->note_free_cpu();
}

void runtime::tell_clients_of_free_cpu() const noexcept {
  const auto pools = pool_count_.load(std::memory_order_acquire);
  for (std::size_t p = 1; p < pools; ++p) // the first one is the runtime's own
    pools_[p]->note_free_cpu();
}

/// Whether a caller's thread has the CPU that this compute executor would compute on: then it
/// neither asks nor stays awake. Not that of one which was blocked by what it calls: beside such a
/// one, loops of 200 us took 98 ms instead of 133.
bool runtime::is_superfluous(const executors::executor& idle) const noexcept {
  const auto* made = callers_.load(std::memory_order_acquire); // compute_ may not be set yet
  return made != nullptr && made != &idle.pool()
         && idle.index() + made->num_hosting() >= idle.pool().size() + made->num_blocked();
}

/// The idle ask: an executor about to sleep, or at its hatch, makes one busy executor look up at
/// its next fork. It takes the first that runs a member and has not been asked
/// yet, starting behind its own index so that askers spread out; the others
/// see it in the idle set when their quantum ends.
void runtime::ask(const executors::executor& idle) noexcept {
  if (is_superfluous(idle))
    return;
  auto pools = pool_count_.load(std::memory_order_acquire);
  for (std::size_t p = 0; p < pools; ++p) {
    auto& pool = *pools_[p];
    for (std::size_t i = 1; i <= pool.size(); ++i) {
      auto& busy = pool.at((idle.index() + i) % pool.size());
      if (&busy != &idle && busy.attentive().load(std::memory_order_relaxed)
          && busy.attention().load(std::memory_order_relaxed) == 0) {
        busy.raise_attention();
        asks_.fetch_add(1, std::memory_order_relaxed); // idle ones have the time
        return;
      }
    }
  }
}

/// While a computation runs somewhere, `idle` may get a part of it as soon as
/// that has waited for a quantum, at one of eight looks a quantum. To be woken by
/// the kernel then costs its victim some 40 us and itself 60.
/// @returns in how many ticks; 0: none is expected
std::uint64_t runtime::theft_expected_within(const executors::executor& idle) const noexcept {
  if (is_superfluous(idle))
    return 0;
  auto pools = pool_count_.load(std::memory_order_acquire);
  for (std::size_t p = 0; p < pools; ++p)
    for (std::size_t i = 0; i < pools_[p]->size(); ++i) {
      auto& other = pools_[p]->at(i);
      if (&other != &idle && other.attentive().load(std::memory_order_relaxed))
        return quantum_ticks_ + quantum_ticks_ / 8;
    }
  return 0;
}

executors::work_item runtime::item_of(detail::parcel& sent) noexcept {
  static constexpr executors::work_ops ops{
    [](void* object, executors::executor& self) noexcept {
      receive(static_cast<detail::parcel*>(object), self);
    },
    nullptr, // addressed to an executor, so never discarded: a victim waits
  };
  return {&sent, &ops};
}

void runtime::receive(detail::parcel* sent, executors::executor& self) noexcept {
  if (sent->dispatch.begin())
    run_delegate(sent->contents, self); // which owns `sent`
  else
    delete sent;
}

/// Runs `d`, and then what its executor can take for itself from victims that
/// wait here: for the rest of the quantum, and so on. Then what comes through its hatch, for a
/// quantum in all: others that look for this executor see one piece of work.
void runtime::run_delegate(detail::delegation* d, executors::executor& self) noexcept {
  auto& host = d->origin.host;
  auto& cells = host.cells_of(self);
  const auto begun = self.now();
  std::uint64_t quantum_start = 0;
  while (d != nullptr) {
    BASAL_ASSERT(!d->merged.is_set(), "a delegation runs once");
    detail::delegation* next = nullptr;
    d->begun_at = self.now();
    self.record(executors::record_kind::delegate_begins, d->begun_at, d, d->origin.name());
    {
      const executors::carrying all{self, d->carried};
      member m{*d, self, cells};
      m.continue_quantum(quantum_start);
      try {
        d->execute(m);
      } catch (...) {
        d->error = std::current_exception();
        cells.failed_merges.add();
      }
      // Before this one has merged: so the victim cannot go on meanwhile.
      next = m.take_seamlessly(self.now());
      quantum_start = m.quantum_start_;
    }
    cells.merges.add();
    cells.of(d->origin.number).merges.add();
    const auto ended = d->ended_at = self.now();
    self.record(executors::record_kind::delegate_ends, ended, d);
    detail::finish_merge(d->merged, d->latch,
                         [](executors::fiber* victim) { executors::executor::wake(*victim); });
    d = next; // the last may be gone from here on
    if (d == nullptr && ended - begun < host.quantum_ticks_) {
      self.look(ended);
      quantum_start = 0;
      d = host.wait_at_hatch(self, cells);
    }
  }
}

detail::executor_cells& runtime::strangers_cells(const executors::executor& self) {
  std::lock_guard guard{strangers_mutex_};
  auto& cells = strangers_[&self];
  if (cells == nullptr)
    cells = std::make_unique<detail::executor_cells>();
  return *cells;
}

void runtime::count_failure(detail::executor_cells& cells, const detail::call_info& call) noexcept {
  if (call.function != nullptr)
    cells.of(call.function->number).failed.add();
  try {
    throw;
  } catch (const cancelled&) {
    cells.cancelled.add();
  } catch (const memory_limit_exceeded&) {
    cells.over_limit.add();
  } catch (...) {
    cells.failed.add();
  }
}

void runtime::note_memory(std::size_t bytes, std::size_t cabal) noexcept {
  auto raise = [](std::atomic<std::size_t>& most, std::size_t value) {
    auto known = most.load(std::memory_order_relaxed);
    while (value > known && !most.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
    }
  };
  raise(most_bytes_, bytes);
  raise(largest_cabal_, cabal);
}

posse_stats runtime::stats() const {
  std::vector<const detail::executor_cells*> all;
  auto slots = slots_.load(std::memory_order_acquire);
  for (std::size_t p = 0; p < slots; ++p)
    for (std::size_t i = 0; i < pool_cells_[p].size; ++i)
      all.push_back(&pool_cells_[p].cells[i]);
  std::lock_guard guard{strangers_mutex_};
  for (const auto& [executor, cells] : strangers_)
    all.push_back(cells.get());
  auto sum = [&](detail::counter detail::executor_cells::*which) {
    std::uint64_t total = 0;
    for (auto* c : all)
      total += (c->*which).get();
    return total;
  };
  auto difference
    = [](std::uint64_t begun, std::uint64_t ended) { return begun - std::min(begun, ended); };
  auto nanoseconds = [](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(executors::tick_clock::to_duration(ticks).count());
  };
  using cells = detail::executor_cells;
  posse_stats s;
  // Ends before beginnings, so that a difference is rarely negative.
  auto ended = sum(&cells::computations_ended);
  auto waits_ended = sum(&cells::merge_waits_ended);
  s.merges = sum(&cells::merges);
  s.computations = sum(&cells::computations);
  s.computations_now = difference(s.computations, ended);
  s.cancelled = sum(&cells::cancelled) + called_off_.load(std::memory_order_relaxed);
  s.over_limit = sum(&cells::over_limit);
  s.near_limit = near_limit_.load(std::memory_order_relaxed);
  s.failed = sum(&cells::failed);
  s.forks = sum(&cells::forks);
  s.thefts = sum(&cells::thefts);
  s.inlined = difference(s.forks, s.thefts);
  s.seamless_thefts = sum(&cells::seamless_thefts);
  s.delegates_now = difference(s.thefts, s.merges);
  s.quanta = sum(&cells::quanta);
  s.yields = sum(&cells::yields);
  s.failed_merges = sum(&cells::failed_merges);
  s.taken_back = sum(&cells::taken_back);
  s.merge_waits = sum(&cells::merge_waits);
  s.victims_now = difference(s.merge_waits, waits_ended);
  s.suspended_ns = nanoseconds(sum(&cells::suspended_ticks));
  s.asks = asks_.load(std::memory_order_relaxed);
  for (auto* c : all)
    c->verdicts.for_each([&](theft_verdict verdict, const detail::counter& count) {
      s.verdicts[verdict] += count.get();
      s.theft_looks += count.get();
    });
  s.largest_cabal = largest_cabal_.load(std::memory_order_relaxed);
  s.most_bytes_per_executor = most_bytes_.load(std::memory_order_relaxed);
  for (auto* c : all)
    s.deepest_stack_bytes = std::max(s.deepest_stack_bytes, c->deepest_stack.get());
  detail::function_record::for_each([&](const detail::function_record& record) {
    function_stats f{.name = record.name.load(std::memory_order_relaxed)};
    if (record.number == 0)
      return;
    for (auto* c : all)
      if (auto* of = c->find(record.number)) {
        f.calls += of->calls.get();
        f.offloaded += of->offloaded.get();
        f.failed += of->failed.get();
        f.forks += of->forks.get();
        f.thefts += of->thefts.get();
        f.merges += of->merges.get();
        f.quanta += of->quanta.get();
        f.busy_ns += nanoseconds(of->busy_ticks.get());
      }
    f.inlined = difference(f.forks, f.thefts);
    if (f.calls != 0)
      s.functions.push_back(std::move(f));
  });
  return s;
}

} // namespace basal::posse
