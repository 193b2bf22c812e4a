#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace solve {

/// A line on standard error that says how far long work is, if somebody watches: it appears
/// after half a second, changes at most ten times a second and is wiped at the end. One thread
/// at a time.
class progress {
public:
  /// @param what e.g. "solving"; @param units e.g. "right-hand sides"
  progress(std::string what, std::string units);
  ~progress();

  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void show(std::uint64_t done, std::uint64_t total);

private:
  using clock = std::chrono::steady_clock;

  const std::string what_, units_;
  const bool watched_;
  const clock::time_point start_ = clock::now();
  clock::time_point shown_{};
};

/// "solving: 120 of 1000 right-hand sides (12 %), 3 s left"
std::string progress_text(const std::string& what, const std::string& units, std::uint64_t done,
                          std::uint64_t total, double seconds);

} // namespace solve
