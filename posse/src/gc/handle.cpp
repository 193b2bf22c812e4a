#include "collector.hpp"

#include <basal/posse/gc/handle.hpp>

#include <atomic>
#include <cstring>
#include <new>

namespace basal::posse::gc::detail {

namespace {

/// The value stands behind it.
struct alignas(16) cell {
  std::atomic<std::size_t> handles{1};
};

} // namespace

void* make_cell(const void* words, std::size_t bytes) {
  enter();
  auto* memory = GC_malloc_uncollectable(sizeof(cell) + bytes);
  if (memory == nullptr)
    throw std::bad_alloc{};
  auto* made = new (memory) cell;
  std::memcpy(static_cast<void*>(made + 1), words, bytes);
  return made;
}

const void* cell_words(const void* c) noexcept {
  return static_cast<const cell*>(c) + 1;
}

void* share_cell(void* c) noexcept {
  if (c != nullptr) // relaxed: the caller has a handle, so it cannot go
    static_cast<cell*>(c)->handles.fetch_add(1, std::memory_order_relaxed);
  return c;
}

void drop_cell(void* c) noexcept {
  if (c == nullptr)
    return;
  // Release: our reads come before the end. Acquire: the last one sees them done.
  if (static_cast<cell*>(c)->handles.fetch_sub(1, std::memory_order_acq_rel) == 1)
    GC_free(c); // takes the collector's lock; any thread, registered or not
}

} // namespace basal::posse::gc::detail
