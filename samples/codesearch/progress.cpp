#include "progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace codesearch {

namespace {

std::string remaining_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 60) {
    return std::to_string(whole) + " s";
  }
  char text[32];
  std::snprintf(text, sizeof text, "%llu:%02llu min", static_cast<unsigned long long>(whole / 60),
                static_cast<unsigned long long>(whole % 60));
  return text;
}

} // namespace

progress_state snapshot(const progress_counters& counters) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed; // see progress_counters
  progress_state state;
  state.walk_done = counters.walk_done.load(relaxed);
  state.files_done = counters.files_done.load(relaxed);
  state.bytes_done = counters.bytes_done.load(relaxed);
  state.files_listed = counters.files_listed.load(relaxed);
  state.bytes_listed = counters.bytes_listed.load(relaxed);
  return state;
}

std::string describe(const progress_state& state, std::chrono::duration<double> since_start) {
  const double seconds = std::max(since_start.count(), 1e-3);
  const double bytes_per_second = static_cast<double>(state.bytes_done) / seconds;
  std::string text = grouped(state.files_done) + " of " + (state.walk_done ? "" : "at least ")
                     + grouped(state.files_listed) + " files, "
                     + megabytes(static_cast<std::uint64_t>(bytes_per_second)) + " MB/s";
  if (state.bytes_listed > 0) {
    const std::uint64_t done = std::min(state.bytes_done, state.bytes_listed);
    const double share = static_cast<double>(done) / static_cast<double>(state.bytes_listed);
    text += ", " + std::to_string(static_cast<int>(100 * share)) + " % of "
            + megabytes(state.bytes_listed) + " MB";
    if (state.walk_done && bytes_per_second > 0) {
      const double left = static_cast<double>(state.bytes_listed - done) / bytes_per_second;
      text += ", " + remaining_time(left) + " left";
    }
  }
  return text;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, 1, ',');
  }
  return digits;
}

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  const double mb = static_cast<double>(bytes) / 1e6;
  std::snprintf(text, sizeof text, mb < 10 ? "%.1f" : "%.0f", mb);
  return text;
}

} // namespace codesearch
