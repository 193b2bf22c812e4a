// Which threads the collector knows, and the protocol by which it finds all their
// stacks: those of fibers change under a thread and are unknown to it.
//
// 1. PRE_STOP_WORLD: switches are held, and those under way awaited (stack_scan).
//    A thread stopped inside one would be on neither of the two stacks it is
//    between.
// 2. The collector stops the registered threads by a signal; switches go on for
//    the others.
// 3. push_roots(), while they stand still: each thread's stack is said to be the
//    one that its executor runs on, and every suspended fiber of these executors
//    is scanned. Then the collector's own callback scans the running stacks.

#include "threads.hpp"
#include "collector.hpp"

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/carrier.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/executors/detail/stack_scan.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/placement.hpp>
#include <basal/executors/recorder.hpp>
#include <basal/executors/report.hpp>
#include <basal/posse/gc/detail/faults.hpp>

#include <pthread.h>
#include <sched.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>

namespace basal::posse::gc {

namespace {

using executors::stack_scan;
using clock = std::chrono::steady_clock;

thread_local thread_state* own_state = nullptr;

// -- under the collector's lock, which it holds while it calls us --------------
thread_state* all_threads = nullptr;
pause_record pauses;
clock::time_point stopping_since;
std::uint64_t allocated_by_ended_threads = 0;

GC_push_other_roots_proc push_roots_of_collector = nullptr;
pthread_key_t end_of_thread;

struct collector_lock {
  collector_lock() noexcept {
    GC_alloc_lock();
  }
  ~collector_lock() {
    GC_alloc_unlock();
  }
  collector_lock(const collector_lock&) = delete;
  collector_lock& operator=(const collector_lock&) = delete;
};

/// A thread's variable, read by the thread that collects: stopped, or about to
/// become or to have been an executor.
executors::executor* executor_of(const thread_state& t) noexcept {
  return __atomic_load_n(t.executor, __ATOMIC_ACQUIRE);
}

void hold_switches() noexcept {
  if (detail::faults().skip_holding_switches.load(std::memory_order_relaxed))
    return;
  stack_scan::hold_switches();
  for (auto* t = all_threads; t != nullptr; t = t->next)
    if (const auto* e = executor_of(*t))
      while (stack_scan::is_switching(*e))
        sched_yield(); // it was preempted within a few instructions
}

void GC_CALLBACK on_event(GC_EventType event) {
  switch (event) {
  case GC_EVENT_PRE_STOP_WORLD:
    executors::recorder::add(executors::record_kind::collection_begins);
    stopping_since = clock::now();
    hold_switches();
    break;
  case GC_EVENT_POST_STOP_WORLD:
    stack_scan::allow_switches();
    break;
  case GC_EVENT_POST_START_WORLD:
    pauses.last = clock::now() - stopping_since;
    pauses.all.add(static_cast<std::uint64_t>(pauses.last.count()));
    executors::recorder::add(executors::record_kind::collection_ends);
    break;
  default:
    break;
  }
}

/// Idempotent: the collector repeats it when its mark stack has overflowed.
void GC_CALLBACK push_roots() {
  auto stacks = std::size_t{0};
  auto bytes = std::size_t{0};
  const auto skip = detail::faults().skip_suspended_stacks.load(std::memory_order_relaxed);
  for (auto* t = all_threads; t != nullptr; t = t->next) {
    const auto* e = executor_of(*t);
    auto* top = e != nullptr ? stack_scan::running_top(*e) : nullptr;
    GC_stack_base bottom{};
    bottom.mem_base = top != nullptr ? top : t->native_top;
    GC_set_stackbottom(t->collector_handle, &bottom);
    if (e == nullptr || skip)
      continue;
    if (auto* low = stack_scan::left_native_at(*e))
      GC_push_all_eager(low, t->native_top);
    stack_scan::for_each_suspended(*e, [&](std::byte* low, std::byte* high) {
      // Eagerly: a range each, left for later, would overflow the mark stack
      // where there are thousands of fibers.
      GC_push_all_eager(low, high);
      ++stacks;
      bytes += static_cast<std::size_t>(high - low);
    });
  }
  pauses.suspended_stacks = stacks;
  pauses.suspended_stack_bytes = bytes;
  push_roots_of_collector();
}

/// Runs when a thread ends, after the destructors of its thread-locals. An
/// executor's thread is on its own stack by then.
void unregister(void* state) noexcept {
  std::unique_ptr<thread_state> t{static_cast<thread_state*>(state)};
  {
    collector_lock lock;
    GC_stack_base bottom{};
    bottom.mem_base = t->native_top;
    GC_set_stackbottom(t->collector_handle, &bottom);
    allocated_by_ended_threads += t->allocated;
    *t->link = t->next;
    if (t->next != nullptr)
      t->next->link = t->link;
  }
  own_state = nullptr;
  // Nobody else lists the objects of its free lists: the next collection frees them.
  GC_free(t->free);
  GC_unregister_my_thread();
}

void start_collector() {
  stack_scan::prepare();
  // Objects are pointed into: by iterators, by find().
  GC_set_all_interior_pointers(1);
  // Collect after about twice as much was allocated as is live, instead of two
  // thirds: collections stop everybody. A union of two maps of 10^6 entries takes
  // 30 % less time, and the heap is up to three times what is live. In the
  // environment, GC_FREE_SPACE_DIVISOR overrides it.
  GC_set_free_space_divisor(1);
  // Else it takes every CPU of the machine, which a container or an affinity mask
  // may not grant. In the environment, GC_MARKERS overrides it.
  GC_set_markers_count(static_cast<unsigned>(executors::usable_cpus()));
  GC_INIT();
  GC_allow_register_threads();
  // Else a program that makes garbage beside a small live heap collects after
  // every megabyte.
  GC_set_min_bytes_allocd(least_garbage_bytes);
  // On stderr, for large objects: pointers into them are to be expected here.
  GC_set_warn_proc(GC_ignore_warn_proc);
  push_roots_of_collector = GC_get_push_other_roots();
  GC_set_push_other_roots(push_roots);
  GC_set_on_collection_event(on_event);
#ifdef __SANITIZE_THREAD__
  GC_disable(); // ThreadSanitizer delays signals; a thread would never stop
#endif
  if (pthread_key_create(&end_of_thread, unregister) != 0)
    throw std::bad_alloc{};
}

void ensure_started() {
  static const bool started = (start_collector(), true);
  static_cast<void>(started);
}

thread_state& register_thread() {
  ensure_started();
  auto t = std::make_unique<thread_state>();
  GC_stack_base bottom{};
  if (GC_thread_is_registered() == 0) {
    if (GC_get_stack_base(&bottom) != GC_SUCCESS)
      throw std::bad_alloc{};
    t->native_top = bottom.mem_base;
    if (const auto* e = executors::executor::current())
      if (auto* top = stack_scan::running_top(*e))
        bottom.mem_base = top;
    GC_register_my_thread(&bottom);
  }
  t->collector_handle = GC_get_my_stackbottom(&bottom);
  if (t->native_top == nullptr) // the thread that started the collector
    t->native_top = bottom.mem_base;
  t->executor = &executors::executor::current_slot();
  t->free = static_cast<free_lists*>(GC_malloc_uncollectable(sizeof(free_lists)));
  if (t->free == nullptr || pthread_setspecific(end_of_thread, t.get()) != 0)
    throw std::bad_alloc{};
  collector_lock lock;
  t->next = all_threads;
  t->link = &all_threads;
  if (all_threads != nullptr)
    all_threads->link = &t->next;
  all_threads = t.get();
  own_state = t.get();
  return *t.release();
}

bool results_are_hidden() noexcept {
  return detail::faults().hide_results.load(std::memory_order_relaxed);
}

/// For a result on its way, which only the thief's and the victim's runtime know.
void* allocate_visible(std::size_t bytes) noexcept {
  enter();
  return results_are_hidden() ? std::malloc(bytes) : GC_malloc_uncollectable(bytes);
}

void release_visible(void* memory) noexcept {
  results_are_hidden() ? std::free(memory) : GC_free(GC_base(memory));
}

/// Work that is handed over charges the account that was in force where that
/// happened: what the running fiber took until then is charged before.
constexpr executors::carrier carries_account{
  [](executors::errand what) noexcept -> void* {
    auto& self = this_thread();
    add_allocated(self);
    auto* a = account_in_force(self);
    if (a != nullptr && what == executors::errand::detached)
      detail::loans::begin(*a);
    return a;
  },
  [](void* a, executors::errand what) noexcept {
    if (what == executors::errand::detached)
      detail::loans::end(*static_cast<account*>(a));
  },
  [](void* account, executors::executor& on, executors::carrier_room& room) noexcept {
    static_assert(sizeof(charge_frame) <= sizeof room);
    auto& fiber = on.running();
    add_allocated(this_thread());
    auto* frame = new (&room) charge_frame;
    posse::detail::open_charge(*frame, posse::detail::innermost_charge(fiber), account);
    fiber.attachment() = frame;
  },
  [](executors::executor& on, [[maybe_unused]] executors::carrier_room& room) noexcept {
    BASAL_ASSERT(static_cast<void*>(posse::detail::innermost_charge(on.running())) == &room,
                 "what work opens on its fiber ends before it does");
    add_allocated(this_thread());
    on.running().attachment() = posse::detail::innermost_charge(on.running())->outer;
  },
};

/// Before main(), in programs that use the heap at all: so the collector takes
/// the main thread for the main thread, and no computation begins without it.
struct hooks_installer {
  hooks_installer() {
    static constexpr executors::collector_hooks hooks{
      &enter,
      &allocate_visible,
      &release_visible,
      []() noexcept {
        if (own_state != nullptr && own_state->uncharged != 0)
          add_allocated(*own_state);
      },
      &used_bytes,
      []() noexcept {
        collect();
        return used_bytes();
      },
      []() noexcept { return snapshot_threads().pauses.all; },
    };
    try {
      ensure_started();
    } catch (const std::exception& e) {
      executors::report(executors::report_level::critical, "basal.posse", e.what());
      std::abort();
    }
    executors::collector.store(&hooks, std::memory_order_release);
    posse::detail::account_carrier.store(&carries_account, std::memory_order_release);
    executors::carriers::add(carries_account);
  }
} const install_hooks;

} // namespace

thread_state& this_thread() {
  return own_state != nullptr ? *own_state : register_thread();
}

void enter() noexcept {
  if (own_state == nullptr)
    register_thread();
}

threads_snapshot snapshot_threads() {
  collector_lock lock;
  threads_snapshot result{pauses, 0, allocated_by_ended_threads};
  for (auto* t = all_threads; t != nullptr; t = t->next) {
    ++result.threads;
    result.allocated += std::atomic_ref{t->allocated}.load(std::memory_order_relaxed);
  }
  return result;
}

detail::protocol_faults& detail::faults() noexcept {
  static constinit protocol_faults switches;
  return switches;
}

} // namespace basal::posse::gc
