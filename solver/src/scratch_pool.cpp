#include <basal/solver/detail/scratch_pool.hpp>

#include <algorithm>
#include <bit>
#include <new>

#include <basal/executors/detail/assert.hpp>

namespace basal::solver {

namespace {

constexpr unsigned index_bits = 16;
constexpr std::uint64_t one_pop = std::uint64_t{1} << index_bits;

constexpr std::uint32_t index_of(std::uint64_t head) noexcept {
  return static_cast<std::uint32_t>(head & (one_pop - 1));
}

constexpr std::uint64_t with_index(std::uint64_t head, std::uint32_t index) noexcept {
  return (head & ~(one_pop - 1)) | index;
}

} // namespace

void scratch_pool::slot_stack::push(slot* table, std::uint32_t index) noexcept {
  auto head = head_.load(std::memory_order_relaxed);
  do {
    table[index].next.store(index_of(head), std::memory_order_relaxed);
  } while (!head_.compare_exchange_weak(head, with_index(head, index), std::memory_order_release,
                                        std::memory_order_relaxed));
}

std::uint32_t scratch_pool::slot_stack::pop(slot* table) noexcept {
  auto head = head_.load(std::memory_order_acquire);
  while (index_of(head) != none) {
    auto next = table[index_of(head)].next.load(std::memory_order_relaxed);
    if (head_.compare_exchange_weak(head, with_index(head, next) + one_pop,
                                    std::memory_order_acquire, std::memory_order_acquire))
      return index_of(head);
  }
  return none;
}

std::uint64_t scratch_pool::slot_stack::pops() const noexcept {
  return head_.load(std::memory_order_relaxed) >> index_bits;
}

scratch_pool::scratch_pool(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {
  for (std::uint32_t i = max_blocks; i-- > 0;)
    unused_.push(slots_.data(), i);
}

scratch_pool::~scratch_pool() {
  while (trim()) {
  }
  BASAL_ASSERT(bytes_.load(std::memory_order_relaxed) == 0, "leases end before their pool");
}

unsigned scratch_pool::class_of(std::size_t bytes) noexcept {
  BASAL_ASSERT(bytes > 0, "no block is empty");
  return std::max(smallest_class, static_cast<unsigned>(std::bit_width(bytes - 1)))
         - smallest_class;
}

std::size_t scratch_pool::block_bytes(std::size_t bytes) noexcept {
  return bytes == 0 ? 0 : std::size_t{1} << (class_of(bytes) + smallest_class);
}

std::optional<scratch_pool::lease> scratch_pool::acquire(std::size_t bytes) noexcept {
  if (bytes == 0)
    return lease{};
  auto size_class = class_of(bytes);
  auto index = size_class < classes ? idle_[size_class].pop(slots_.data()) : none;
  if (index == none) [[unlikely]] {
    index = size_class < classes ? allocate(size_class) : none;
    if (index == none) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return std::nullopt;
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
  }
  return lease{this, {slots_[index].memory, bytes}, index};
}

/// Adds to `bytes_` unless that would exceed the limit.
bool scratch_pool::reserve(std::size_t bytes) noexcept {
  auto used = bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_bytes_ || used > limit_bytes_ - bytes)
      return false;
  } while (!bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

std::uint32_t scratch_pool::allocate(unsigned size_class) noexcept {
  const auto size = std::size_t{1} << (size_class + smallest_class);
  if (size > limit_bytes_)
    return none; // giving back idle blocks would not help
  auto index = unused_.pop(slots_.data());
  while (index == none && trim())
    index = unused_.pop(slots_.data());
  if (index == none)
    return none;
  while (!reserve(size))
    if (!trim()) {
      unused_.push(slots_.data(), index);
      return none;
    }
  auto* memory = ::operator new (size, std::align_val_t{alignment}, std::nothrow);
  if (memory == nullptr) {
    bytes_.fetch_sub(size, std::memory_order_relaxed);
    unused_.push(slots_.data(), index);
    return none;
  }
  slots_[index].memory = static_cast<std::byte*>(memory);
  slots_[index].size_class = size_class;
  return index;
}

/// Gives one idle block back to the system, the largest first.
bool scratch_pool::trim() noexcept {
  for (unsigned c = classes; c-- > 0;)
    if (auto index = idle_[c].pop(slots_.data()); index != none) {
      trims_.fetch_add(1, std::memory_order_relaxed);
      free_block(index);
      return true;
    }
  return false;
}

void scratch_pool::free_block(std::uint32_t index) noexcept {
  auto& s = slots_[index];
  ::operator delete (s.memory, std::align_val_t{alignment});
  s.memory = nullptr;
  bytes_.fetch_sub(std::size_t{1} << (s.size_class + smallest_class), std::memory_order_relaxed);
  unused_.push(slots_.data(), index);
}

void scratch_pool::release(std::uint32_t index) noexcept {
  BASAL_ASSERT(index < max_blocks && slots_[index].memory != nullptr,
               "what goes back was lent by this pool");
  idle_[slots_[index].size_class].push(slots_.data(), index);
}

scratch_stats scratch_pool::stats() const noexcept {
  // Before the pops that it is taken from, or the difference could be negative.
  auto trims = trims_.load(std::memory_order_relaxed);
  std::uint64_t pops = 0;
  for (const auto& stack : idle_)
    pops += stack.pops();
  return {
    .hits = pops - std::min(pops, trims),
    .misses = misses_.load(std::memory_order_relaxed),
    .refused = refused_.load(std::memory_order_relaxed),
    .bytes = bytes_.load(std::memory_order_relaxed),
  };
}

} // namespace basal::solver
