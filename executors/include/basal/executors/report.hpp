#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace basal::executors {

// Reports of basal's modules to the user. Each names itself ("basal.posse") and hands a sentence to
// the process's sink: standard error, unless a module above has put a log behind it.

enum class report_level : unsigned char { debug, info, warning, error, critical };

const char* to_string(report_level level) noexcept;

/// Takes one report. Any thread, several at once; it must not report itself.
/// @param from  the name of a module, such as "basal.posse", or of a program
/// @param text  a sentence without a line's end
using report_sink
  = void (*)(report_level level, std::string_view from, std::string_view text) noexcept;

/// The sink of a process that has set no other: writes "FROM: TEXT" to standard error with one
/// system call, and nothing for `debug`. It takes no lock and allocates nothing, so that a child of
/// fork() may call it. Text beyond 4 KiB is cut.
void report_to_stderr(report_level level, std::string_view from, std::string_view text) noexcept;

/// Replaces the sink of this process. Any thread; reports under way may still go to the old one.
/// @returns the sink before
report_sink set_report_sink(report_sink sink) noexcept;

/// Replaces the sink where it is still `expected`.
bool replace_report_sink(report_sink expected, report_sink sink) noexcept;

/// Hands a report to the sink. Any thread.
void report(report_level level, std::string_view from, std::string_view text) noexcept;

/// Admits one event in each `window` and counts the others. Any thread, lock-free.
class report_limit {
public:
  /// One event passes in each.
  static constexpr std::chrono::nanoseconds window = std::chrono::seconds{10};

  /// One event at the time `now`, on any clock that does not run backwards.
  /// @returns how many were held back since the last admitted one; nothing: this one is, too
  std::optional<std::uint64_t> admit(std::chrono::nanoseconds now) noexcept;

  /// How many are held back, which are then forgotten.
  std::uint64_t take_held_back() noexcept;

private:
  // Written by the admitted thread, whose compare-exchange decides who that is. Relaxed, as the
  // count is: they guard no other data.
  std::atomic<std::int64_t> closed_until_ns_{INT64_MIN};
  std::atomic<std::uint64_t> held_back_{0};
};

/// Reports of one kind, which may come in storms: one in 10 s comes through, and the next one says
/// how many were held back. For objects of static storage duration. Any thread.
class report_kind {
public:
  /// @param level of its reports
  /// @param from as that of report_sink, of static storage duration
  /// @param what in the plural: "handlers that kept their executor"; likewise
  constexpr report_kind(report_level level, const char* from, const char* what) noexcept
    : level_(level), from_(from), what_(what) {
  }

  report_kind(const report_kind&) = delete;
  report_kind& operator=(const report_kind&) = delete;

  /// Reports `text`, or counts it.
  void operator()(std::string_view text) noexcept;

  /// Reports how many of each kind are held back: "37 more reports of WHAT". A system that stops
  /// calls it. Any thread.
  static void report_held_back() noexcept;

private:
  void list() noexcept;

  const report_level level_;
  const char* const from_;
  const char* const what_;
  report_limit limit_;

  // All kinds that have ever held one back. The release push in list() publishes next_ to the
  // acquire load in report_held_back(); nobody leaves the list.
  std::atomic<bool> listed_{false};
  report_kind* next_ = nullptr;
};

} // namespace basal::executors
