#include <basal/executors/report.hpp>

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace basal::executors {

namespace {

// Written by set_report_sink(), read by report(). A function needs no publication.
constinit std::atomic<report_sink> current_sink{&report_to_stderr};

constinit std::atomic<report_kind*> first_kind{nullptr};

iovec part(std::string_view text) noexcept {
  return {const_cast<char*>(text.data()), text.size()};
}

} // namespace

const char* to_string(report_level level) noexcept {
  static constexpr std::array names{"debug", "info", "warning", "error", "critical"};
  return names[static_cast<std::size_t>(level)];
}

void report_to_stderr(report_level level, std::string_view from, std::string_view text) noexcept {
  constexpr std::size_t most = 4096;
  if (level == report_level::debug)
    return;
  const std::array parts{part(from), part(": "), part(text.substr(0, most)), part("\n")};
  // A program that cannot write to standard error cannot be told so.
  [[maybe_unused]] const auto written
    = ::writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size()));
}

report_sink set_report_sink(report_sink sink) noexcept {
  return current_sink.exchange(sink, std::memory_order_relaxed);
}

bool replace_report_sink(report_sink expected, report_sink sink) noexcept {
  return current_sink.compare_exchange_strong(expected, sink, std::memory_order_relaxed);
}

void report(report_level level, std::string_view from, std::string_view text) noexcept {
  // Texts of exceptions begin with the project's name, which `from` says already.
  constexpr std::string_view project = "basal: ";
  if (text.starts_with(project))
    text.remove_prefix(project.size());
  current_sink.load(std::memory_order_relaxed)(level, from, text);
}

std::optional<std::uint64_t> report_limit::admit(std::chrono::nanoseconds now) noexcept {
  auto until = closed_until_ns_.load(std::memory_order_relaxed);
  if (now.count() >= until
      && closed_until_ns_.compare_exchange_strong(until, (now + window).count(),
                                                  std::memory_order_relaxed))
    return take_held_back();
  held_back_.fetch_add(1, std::memory_order_relaxed);
  return std::nullopt;
}

std::uint64_t report_limit::take_held_back() noexcept {
  return held_back_.exchange(0, std::memory_order_relaxed);
}

void report_kind::operator()(std::string_view text) noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto held_back = limit_.admit(now);
  if (!held_back) {
    list();
    return;
  }
  if (*held_back == 0) {
    report(level_, from_, text);
    return;
  }
  std::array<char, 1024> line;
  std::snprintf(line.data(), line.size(), "%.*s (%llu more before this)",
                static_cast<int>(std::min<std::size_t>(text.size(), 900)), text.data(),
                static_cast<unsigned long long>(*held_back));
  report(level_, from_, line.data());
}

void report_kind::list() noexcept {
  if (listed_.load(std::memory_order_relaxed) || listed_.exchange(true, std::memory_order_relaxed))
    return;
  next_ = first_kind.load(std::memory_order_relaxed);
  while (!first_kind.compare_exchange_weak(next_, this, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

void report_kind::report_held_back() noexcept {
  for (auto* kind = first_kind.load(std::memory_order_acquire); kind != nullptr; kind = kind->next_)
    if (const auto held_back = kind->limit_.take_held_back(); held_back > 0) {
      std::array<char, 256> line;
      std::snprintf(line.data(), line.size(), "%llu more reports of %s",
                    static_cast<unsigned long long>(held_back), kind->what_);
      report(kind->level_, kind->from_, line.data());
    }
}

} // namespace basal::executors
