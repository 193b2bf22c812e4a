#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace basal::solver {

/// Counts of a scratch_pool so far; a snapshot whose fields may be a few events apart.
struct scratch_stats {
  std::uint64_t hits = 0;   ///< leases served without the system's allocator
  std::uint64_t misses = 0; ///< leases for which memory was allocated
  std::uint64_t refused = 0;
  std::size_t bytes = 0; ///< allocated now, idle and lent
};

/// Scratch memory for solves: blocks that come back are kept for the next solve,
/// and idle and lent ones together never exceed a limit.
///
/// Blocks have sizes of powers of two from 4 KiB on, aligned to 64 bytes. Each
/// size has a lock-free stack of idle blocks: the last one returned, which the
/// caches still know, is lent first. When the limit is in the way, idle blocks of
/// other sizes are given back to the system. Any thread; acquire and release
/// together take about 30 ns.
///
/// The source's pool counts a block that is lent as gone: after as many leases
/// as it may hold blocks, it allocates for each further one, without bound.
class scratch_pool {
public:
  /// Memory on loan; goes back when destroyed. The pool must outlive it.
  class lease {
  public:
    lease() = default;

    lease(lease&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), bytes_(other.bytes_), slot_(other.slot_) {
    }

    lease& operator=(lease&& other) noexcept {
      lease moved{std::move(other)};
      std::swap(pool_, moved.pool_);
      std::swap(bytes_, moved.bytes_);
      std::swap(slot_, moved.slot_);
      return *this;
    }

    ~lease() {
      if (pool_ != nullptr)
        pool_->release(slot_);
    }

    /// As many bytes as were asked for, aligned to 64; they may hold anything.
    std::span<std::byte> bytes() const noexcept {
      return bytes_;
    }

  private:
    friend class scratch_pool;

    lease(scratch_pool* pool, std::span<std::byte> bytes, std::uint32_t slot) noexcept
      : pool_(pool), bytes_(bytes), slot_(slot) {
    }

    scratch_pool* pool_ = nullptr;
    std::span<std::byte> bytes_;
    std::uint32_t slot_ = 0;
  };

  /// @param limit_bytes of all blocks together, idle and lent
  explicit scratch_pool(std::size_t limit_bytes);

  /// No lease may be left.
  ~scratch_pool();

  scratch_pool(const scratch_pool&) = delete;
  scratch_pool& operator=(const scratch_pool&) = delete;

  /// @returns nothing if the limit, the system, or the number of blocks
  ///          (`max_blocks`) does not allow it; for 0 bytes an empty lease.
  std::optional<lease> acquire(std::size_t bytes) noexcept;

  /// Bytes that a lease of `bytes` counts against the limit.
  static std::size_t block_bytes(std::size_t bytes) noexcept;

  std::size_t limit_bytes() const noexcept {
    return limit_bytes_;
  }

  scratch_stats stats() const noexcept;

  static constexpr std::size_t alignment = 64;
  static constexpr std::uint32_t max_blocks = 4096;

private:
  static constexpr unsigned smallest_class = 12; // 4 KiB, a page
  static constexpr unsigned classes = 36;        // up to 2^47 bytes, more than can be mapped
  static constexpr std::uint32_t none = 0xffff;

  /// A block's place in the table. `memory` and `size_class` are written by the
  /// thread that owns the slot, and pass to the next owner with it through the
  /// stacks. `next` is written by the owner before the push that publishes it,
  /// and read by poppers, maybe after another has popped it: their
  /// compare-exchange fails then.
  struct slot {
    std::byte* memory = nullptr;
    unsigned size_class = 0;
    std::atomic<std::uint32_t> next{none};
  };

  /// Treiber's stack of slots (R. K. Treiber, IBM RJ 5118, 1986). The lower 16 bits of
  /// `head` are the top's index, the others count pops, so that a slot that was
  /// popped and pushed again in between makes a compare-exchange fail. The count serves
  /// the statistics, too, and saves them a locked instruction.
  class slot_stack {
  public:
    void push(slot* table, std::uint32_t index) noexcept;
    std::uint32_t pop(slot* table) noexcept; ///< `none` when empty
    std::uint64_t pops() const noexcept;

  private:
    // Written and read by any thread. The release compare-exchange of push() pairs with
    // the acquire one of pop() and publishes the slot and its memory. Later exchanges
    // of other threads continue its release sequence.
    alignas(64) std::atomic<std::uint64_t> head_{none};
  };

  static unsigned class_of(std::size_t bytes) noexcept;
  bool reserve(std::size_t bytes) noexcept;
  std::uint32_t allocate(unsigned size_class) noexcept;
  bool trim() noexcept;
  void free_block(std::uint32_t index) noexcept;
  void release(std::uint32_t index) noexcept;

  const std::size_t limit_bytes_;
  std::array<slot_stack, classes> idle_;
  slot_stack unused_; ///< slots without memory
  std::array<slot, max_blocks> slots_;

  // Relaxed: `bytes_` is a sum that the compare-exchange keeps within the limit
  // and that publishes nothing; the others are statistics.
  alignas(64) std::atomic<std::size_t> bytes_{0};
  std::atomic<std::uint64_t> trims_{0};
  std::atomic<std::uint64_t> misses_{0};
  std::atomic<std::uint64_t> refused_{0};
};

} // namespace basal::solver
