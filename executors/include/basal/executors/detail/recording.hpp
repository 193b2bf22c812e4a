#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <basal/executors/detail/record_kind.hpp>
#include <basal/executors/detail/record_names.hpp>
#include <basal/executors/detail/record_ring.hpp>
#include <basal/executors/work_item.hpp>

namespace basal::detail {

/// The records of one thread. Lies at the beginning of memory of its own, which is never unmapped
/// and goes to another thread when this one ends, so that readers need no lock. Pages are touched
/// when they are written.
class recording {
public:
  /// Records for a thread of that name, or null where there is no memory or recorder::use(false)
  /// was called. Any thread.
  /// @param bytes memory for records, about
  static recording* acquire(std::string_view name, std::size_t bytes) noexcept;

  /// The thread ends. Its records stay until another thread needs the memory.
  static void release(recording* of) noexcept;

  /// The calling thread's: that of its executor, or one for itself. Null as above.
  static recording* of_this_thread() noexcept;

  /// Work that begins is asked what it is to do (work_ops::asked_of) once in this time at most:
  /// after anything that took as long, always.
  static const std::chrono::nanoseconds ask_after;

  /// More threads than that at once are not recorded.
  static constexpr std::size_t max_count = 4096;

  /// All that there have ever been. Any thread, signal handlers included.
  static std::size_t count() noexcept;
  static const recording& at(std::size_t index) noexcept;

  // -- the writer's thread only --------------------------------------------------

  [[gnu::always_inline]] void add(executors::record_kind kind, std::uint64_t present,
                                  std::uint64_t subject = 0, std::uint16_t name = 0) noexcept {
    ring_.add(record::make(kind, present, subject, name));
  }

  void add(executors::record_kind kind, std::uint64_t present, const void* subject,
           std::uint16_t name = 0) noexcept {
    add(kind, present, reinterpret_cast<std::uintptr_t>(subject), name);
  }

  /// Work begins. Where the clock was not read since the last one of its kind began, they are one:
  /// a flood of tasks that are shorter than a look is not worth a record each.
  [[gnu::always_inline]] void begin(executors::work_item item, std::uint64_t present) noexcept {
    const void* kind = item.ops->type_of == nullptr ? static_cast<const void*>(item.ops)
                                                    : *static_cast<const void* const*>(item.object);
    if (kind == begun_) {
      if (present == begun_at_)
        return;
    } else {
      begun_ = kind;
      begun_name_ = names_.find(kind);
      if (begun_name_ == 0) [[unlikely]]
        begun_name_ = name_kind(item, kind);
    }
    begun_at_ = present;
    auto asked = std::uint16_t{0};
    if (item.ops->asked_of != nullptr && present - asked_at_ >= ask_after_) {
      asked_at_ = present;
      asked = item.ops->asked_of(item.object, *this);
    }
    add(executors::record_kind::begins, present, begins_subject(item.object, asked), begun_name_);
  }

  /// Of a record that work begins: which object, to tell it from others, and what it is asked to
  /// do.
  static std::uint64_t begins_subject(const void* object, std::uint16_t asked) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    return (address >> 4 & 0xffff'ffff) << record::name_bits | asked;
  }

  /// The number that this thread keeps for `key`, an address or odd, or 0.
  std::uint16_t find_name(const void* key) const noexcept {
    return names_.find(key);
  }

  /// Keeps the number of `text` for it.
  std::uint16_t keep_name(const void* key, std::string_view text) noexcept;

  /// The number of the name of `item`'s kind or type.
  std::uint16_t name_of(const executors::work_item& item) noexcept;

  /// The number of a text which may be gone later, and another be in its place.
  std::uint16_t name_of(const char* text) noexcept;

  /// For the kernel's thread: what a debugger calls it.
  void set_thread(std::int32_t id) noexcept {
    thread_.store(id, std::memory_order_relaxed);
  }

  // -- any thread ----------------------------------------------------------------

  const record_ring& ring() const noexcept {
    return ring_;
  }

  /// The first record of its present thread.
  std::uint64_t first() const noexcept {
    return first_.load(std::memory_order_acquire);
  }

  std::int32_t thread() const noexcept {
    return thread_.load(std::memory_order_relaxed);
  }

  static constexpr std::size_t max_name = 16; ///< as the kernel's, which end with a zero

  /// The name of its present thread; half old and half new for a moment when that changes.
  std::array<char, max_name> name() const noexcept;

private:
  explicit recording(std::span<record_ring::slot> slots) noexcept;

  /// By value, as begin() has it: a reference would keep begin()'s in memory.
  [[gnu::noinline]] std::uint16_t name_kind(executors::work_item item, const void* kind) noexcept;
  void belong_to(std::string_view name) noexcept;

  record_ring ring_;
  std::uint64_t begun_at_ = 0;
  const void* begun_ = nullptr;
  std::uint16_t begun_name_ = 0;
  std::uint64_t asked_at_ = 0;    ///< the last time that work was asked what it is to do
  const std::uint64_t ask_after_; ///< ticks
  record_name_cache names_;
  bool taken_ = true; ///< guarded by the mutex of all recordings

  // Written by acquire() under that mutex, and by the thread; numbers by themselves.
  std::atomic<std::uint64_t> first_{0};
  std::atomic<std::int32_t> thread_{0};
  std::array<std::atomic<char>, max_name> name_{};
};

} // namespace basal::detail
