#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <basal/posse/stats.hpp>

namespace basal::posse::detail {

/// The counters of one declared function, in a process-wide list that only
/// grows. Any thread, lock-free. Relaxed: statistics, nobody acts on them.
struct function_record {
  constexpr function_record() = default;
  function_record(const function_record&) = delete;
  function_record& operator=(const function_record&) = delete;

  /// Puts the record into the list, at its first call.
  void announce(const char* its_name) noexcept {
    if (name.load(std::memory_order_acquire) == nullptr)
      enlist(its_name);
  }

  /// A snapshot of all records, in no particular order.
  static std::vector<function_stats> snapshot();

  std::atomic<const char*> name{nullptr};
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> offloaded{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> thefts{0};

private:
  void enlist(const char* its_name) noexcept;

  function_record* next_ = nullptr; ///< written before the record is published
};

/// The record of `Function`.
template <auto Function>
inline constinit function_record record_of;

} // namespace basal::posse::detail
