#include <basal/executors/detail/stack_pool.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

namespace {

/// Linux 6.13; not in the C library's headers yet.
constexpr int madv_guard_install = 102;

/// Bytes of address space that one page of the page table describes. Slots are of whole multiples,
/// and their ends in the middle: so the first page of a stack and the guard of the next one share
/// such a page, which would otherwise take as much memory as a shallow stack.
constexpr std::size_t table_reach = 2 * 1024 * 1024;
constexpr std::size_t first_slot_offset = table_reach / 2;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t page_bytes() {
  static const auto result = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return result;
}

std::size_t checked(std::size_t stack_bytes) {
  if (stack_bytes < stack_pool::min_stack_bytes || stack_bytes > stack_pool::max_stack_bytes)
    throw std::invalid_argument("basal: a fiber's stack of " + std::to_string(stack_bytes)
                                + " bytes is not possible; it has between "
                                + std::to_string(stack_pool::min_stack_bytes) + " and "
                                + std::to_string(stack_pool::max_stack_bytes));
  return round_up(stack_bytes, page_bytes());
}

[[noreturn]] void refuse(int error, std::size_t stack_bytes, std::size_t others) {
  throw std::system_error(
    error, std::generic_category(),
    "basal: no memory for a fiber's stack of " + std::to_string(stack_bytes) + " bytes after "
      + std::to_string(others)
      + " others; let fewer computations wait at once, make stacks smaller, or raise what bounds "
        "them: the process's address space (ulimit -v), vm.max_map_count on kernels before 6.13, "
        "or the commit limit where vm.overcommit_memory is 2");
}

} // namespace

stack_pool::stack_pool(std::size_t stack_bytes, guard_kind guards)
  : stack_bytes_(checked(stack_bytes)),
    slot_bytes_(round_up(guard_bytes + least_margin_bytes + stack_bytes_, table_reach)),
    marks_guards_(guards == guard_kind::best) {
}

stack_pool::~stack_pool() {
  for (const auto& c : chunks_)
    munmap(c.memory, c.bytes);
}

stack stack_pool::acquire() {
  std::lock_guard guard{mutex_};
  std::byte* slot = nullptr;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    if (free_.capacity() == mapped_)
      free_.reserve(std::max<std::size_t>(16, 2 * mapped_));
    if (next_slot_ == end_of_slots_)
      reserve_chunk_locked();
    make_accessible_locked(next_slot_);
    slot = next_slot_;
    next_slot_ += slot_bytes_;
    ++mapped_;
  }
  return {slot + guard_bytes, slot + slot_bytes_ - stack_bytes_, stack_bytes_};
}

/// Takes addresses for about as many stacks as there are, or for fewer if addresses are short.
void stack_pool::reserve_chunk_locked() {
  chunks_.reserve(chunks_.size() + 1);
  for (auto stacks = std::clamp<std::size_t>(mapped_, 4, max_chunk_stacks);; stacks /= 2) {
    const auto bytes = stacks * slot_bytes_ + table_reach;
    auto* memory = static_cast<std::byte*>(mmap(
      nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0));
    if (memory == MAP_FAILED) {
      if (stacks > 1)
        continue;
      refuse(errno, stack_bytes_, mapped_);
    }
    // Else the kernel may give a stack 2 MiB when it touches the first page. Before
    // Linux 6.7, MAP_STACK does not say so; kernels without huge pages refuse.
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    const auto misfit
      = (reinterpret_cast<std::uintptr_t>(memory) + table_reach - first_slot_offset) % table_reach;
    next_slot_ = memory + (table_reach - misfit) % table_reach;
    end_of_slots_ = next_slot_ + stacks * slot_bytes_;
    chunks_.push_back({memory, bytes});
    return;
  }
}

/// A fresh slot has no permissions. The whole of it becomes accessible and the guard
/// marked, so that it is one mapping with the slots before it; or, without marks, all
/// but the guard becomes accessible.
void stack_pool::make_accessible_locked(std::byte* slot) {
  constexpr auto access = PROT_READ | PROT_WRITE;
  if (marks_guards_) {
    if (mprotect(slot, slot_bytes_, access) != 0)
      refuse(errno, stack_bytes_, mapped_);
    if (madvise(slot, guard_bytes, madv_guard_install) == 0)
      return;
    const auto error = errno;
    mprotect(slot, slot_bytes_, PROT_NONE);
    if (error != EINVAL) // EINVAL: the kernel does not know it, or not for locked memory
      refuse(error, stack_bytes_, mapped_);
    marks_guards_ = false;
  }
  if (mprotect(slot + guard_bytes, slot_bytes_ - guard_bytes, access) != 0)
    refuse(errno, stack_bytes_, mapped_);
}

void stack_pool::release(stack s) noexcept {
  BASAL_ASSERT(s.floor != nullptr && s.bytes == stack_bytes_,
               "a stack goes back to the pool that made it");
  give_back_below(s, s.top());
  std::lock_guard guard{mutex_};
  BASAL_ASSERT(free_.size() < mapped_, "a stack goes back once");
  free_.push_back(s.floor - guard_bytes); // within the capacity reserved by acquire()
}

void stack_pool::give_back_below(const stack& s, const std::byte* lowest_used) noexcept {
  BASAL_ASSERT(lowest_used >= s.floor && lowest_used <= s.top(), "the address is on the stack");
  const auto used = static_cast<std::size_t>(lowest_used - s.floor) / page_bytes() * page_bytes();
  // MADV_DONTNEED rather than MADV_FREE: what is given back is gone from the resident
  // size at once, where limits and people look, and reads as zero. Locked memory
  // (mlockall) stays, which is what its owner asked for.
  if (used > 0)
    madvise(s.floor, used, MADV_DONTNEED);
}

std::size_t stack_pool::mapped() const noexcept {
  std::lock_guard guard{mutex_};
  return mapped_;
}

bool stack_pool::marks_guards() const noexcept {
  std::lock_guard guard{mutex_};
  return marks_guards_;
}

} // namespace basal::executors
