#include <basal/posse/detail/memory_context.hpp>

#include <string>

#include <basal/executors/executor.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

void memory_context::charge(std::size_t bytes) {
  // Others' threads charge, too, but the list of members is this executor's.
  if (executors::executor::current() == where && running != nullptr)
    for (auto* m = oldest; m != nullptr; m = m->younger_member_)
      m->note_allocation();
  auto now = heap_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (now > heap_limit_.load(std::memory_order_relaxed)) {
    refund(bytes);
    origin.throw_over_limit("an allocation of " + std::to_string(bytes) + " bytes");
  }
  note_peak();
}

void memory_context::note_peak() noexcept {
  auto now = bytes();
  auto most = most_.load(std::memory_order_relaxed);
  while (now > most && !most_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

void* memory_context::do_allocate(std::size_t bytes, std::size_t alignment) {
  charge(bytes);
  try {
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  } catch (...) {
    refund(bytes);
    throw;
  }
}

void memory_context::do_deallocate(void* p, std::size_t bytes, std::size_t alignment) {
  std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
  refund(bytes);
}

bool memory_context::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  return this == &other;
}

} // namespace basal::posse::detail
