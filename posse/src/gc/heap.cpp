#include "collector.hpp"
#include "threads.hpp"

#include <basal/executors/executor.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/gc/heap.hpp>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace basal::posse::gc {

namespace {

/// Threads charge accounts in steps: one is exact to this.
constexpr std::size_t charge_bytes = 4096;

/// The collector adds a byte, so that a past-the-end pointer is still inside:
/// an object of n granules has room for one byte less.
constexpr std::size_t granules_for(std::size_t bytes) noexcept {
  return bytes / granule + 1;
}

static_assert(granules_for(max_listed_bytes - 1) == max_listed_bytes / granule);

/// Lists that a refill fetches at most, each of a block of 4 KiB. A thread that
/// goes on asking gets twice as many each time. Where several threads make
/// objects, most of a refill's time is for the cache lines that the collector's
/// locks guard, which the last one to refill has: for a burst they come once.
/// Measured with the union of two maps by two threads: 75.5 ms a list at a time,
/// 74 with 4, 73 with 8, 70.5 with 16, 70 with 32.
constexpr std::uint8_t longest_burst = 16;

/// The list after this one; objects have two words at least, and the first is
/// the link to the next object.
void*& next_list(void* list) noexcept {
  return static_cast<void**>(list)[1];
}

[[gnu::noinline]] void* refill(free_lists& lists, std::size_t granules) {
  auto& spare = lists.spare[granules];
  if (spare == nullptr) {
    auto& burst = lists.burst[granules];
    burst = static_cast<std::uint8_t>(std::clamp(2 * burst, 1, int{longest_burst}));
    for (auto i = 0; i < burst; ++i) {
      auto* list = GC_malloc_many(granules * granule - 1);
      if (list == nullptr)
        break;
      next_list(list) = spare;
      spare = list;
    }
    if (spare == nullptr)
      throw std::bad_alloc{};
  }
  auto* list = spare;
  spare = std::exchange(next_list(list), nullptr);
  return list;
}

void* take(thread_state& self, std::size_t bytes, content kind) {
  if (kind == content::pointers && bytes < max_listed_bytes) {
    const auto granules = granules_for(bytes);
    auto& list = self.free->first[granules];
    auto* object = list;
    if (object == nullptr) [[unlikely]]
      object = refill(*self.free, granules);
    list = GC_NEXT(object);
    GC_NEXT(object) = nullptr;
    return object;
  }
  // A list of objects that are not scanned would lose all but its first. The
  // collector has lists of its own for these: 17 ns instead of 10.
  auto* object = kind == content::pointers ? GC_malloc(bytes) : GC_malloc_atomic(bytes);
  if (object == nullptr)
    throw std::bad_alloc{};
  return object;
}

} // namespace

void* allocate(std::size_t bytes, content kind) {
  auto& self = this_thread();
  auto* object = take(self, bytes, kind);
  self.uncharged += bytes;
  if (self.uncharged >= charge_bytes) [[unlikely]]
    settle(self);
  return object;
}

std::size_t count_allocated(thread_state& self) noexcept {
  auto bytes = std::exchange(self.uncharged, 0);
  std::atomic_ref allocated{self.allocated};
  allocated.store(allocated.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  return bytes;
}

void settle(thread_state& self) {
  auto bytes = count_allocated(self);
  const auto* f = innermost_charge(self);
  if (f == nullptr)
    return;
  if (f->running != nullptr)
    posse::detail::origin_of(*f->running).charge_collected(bytes);
  if (auto* a = static_cast<account*>(f->account))
    a->charge(bytes);
}

void add_allocated(thread_state& self) noexcept {
  auto bytes = count_allocated(self);
  const auto* f = innermost_charge(self);
  if (f == nullptr)
    return;
  if (f->running != nullptr)
    posse::detail::origin_of(*f->running).add_collected(bytes);
  if (auto* a = static_cast<account*>(f->account))
    a->add(bytes);
}

account* account_in_force(const thread_state& self) noexcept {
  const auto* f = innermost_charge(self);
  return f != nullptr ? static_cast<account*>(f->account) : nullptr;
}

charge_frame* innermost_charge(const thread_state& self) noexcept {
  const auto* e = executors::executor::current();
  return e != nullptr ? posse::detail::innermost_charge(e->running()) : self.charged;
}

void set_innermost_charge(thread_state& self, charge_frame* f) noexcept {
  if (const auto* e = executors::executor::current())
    e->running().attachment() = f;
  else
    self.charged = f;
}

std::size_t used_bytes() noexcept {
  enter();
  GC_word heap = 0;
  GC_word free = 0;
  GC_get_heap_usage_safe(&heap, &free, nullptr, nullptr, nullptr);
  return heap - free;
}

void collect() {
  enter();
  GC_gcollect();
}

void set_least_garbage(std::size_t bytes) {
  enter();
  GC_set_min_bytes_allocd(std::max(bytes, granule));
}

namespace {

std::chrono::nanoseconds nanoseconds_of(std::uint64_t ns) noexcept {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(ns)};
}

} // namespace

heap_stats stats() {
  enter();
  GC_prof_stats_s found{};
  GC_get_prof_stats(&found, sizeof found);
  const auto threads = snapshot_threads();
  return {
    .collections = found.gc_no,
    .heap_bytes = found.heapsize_full,
    .used_bytes = found.heapsize_full - found.free_bytes_full,
    .allocated_bytes = threads.allocated,
    .last_pause = threads.pauses.last,
    .longest_pause = nanoseconds_of(threads.pauses.all.longest_ns),
    .all_pauses = nanoseconds_of(threads.pauses.all.sum_ns),
    .threads = threads.threads,
    .markers = static_cast<std::size_t>(GC_get_parallel()) + 1,
    .suspended_stacks = threads.pauses.suspended_stacks,
    .suspended_stack_bytes = threads.pauses.suspended_stack_bytes,
  };
}

} // namespace basal::posse::gc
