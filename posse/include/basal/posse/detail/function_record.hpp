#pragma once

#include <atomic>
#include <cstdint>

namespace basal::posse::detail {

/// One declared function of the program: its name and a small number, under
/// which each executor keeps counters for it (see executor_cells). Enlisted at
/// its first call, for good. Any thread.
struct function_record {
  /// Numbers are below this; functions beyond it share number 0.
  static constexpr std::uint32_t max_functions = 1024;

  constexpr function_record() = default;
  function_record(const function_record&) = delete;
  function_record& operator=(const function_record&) = delete;

  /// Gives the function its number, at its first call.
  void announce(const char* its_name) noexcept {
    if (name.load(std::memory_order_acquire) == nullptr)
      enlist(its_name);
  }

  /// 0 for null: functions that were not declared.
  static std::uint32_t number_of(const function_record* r) noexcept {
    return r != nullptr ? r->number : 0;
  }

  /// Calls `f(record)` for each function that was enlisted, latest first.
  template <class F>
  static void for_each(F f) {
    for (auto* r = newest.load(std::memory_order_acquire); r != nullptr; r = r->next_)
      f(*r);
  }

  /// Written last of all, in release: who sees the name sees the number.
  std::atomic<const char*> name{nullptr};
  std::uint32_t number = 0;

private:
  void enlist(const char* its_name) noexcept;

  function_record* next_ = nullptr; ///< written before the record is published

  /// Head of the list; a release store publishes a record and its link.
  static std::atomic<function_record*> newest;
};

/// The record of `Function`.
template <auto Function>
inline constinit function_record record_of;

} // namespace basal::posse::detail
