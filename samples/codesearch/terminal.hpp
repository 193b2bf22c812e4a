#pragma once

#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

#include "descriptor.hpp"

namespace codesearch {

/// A line on stderr that is written over again and again, if stderr is a terminal; else nothing.
class status_line {
public:
  status_line();

  [[nodiscard]] bool enabled() const noexcept {
    return enabled_;
  }

  /// Shows `text`, cut to the width of the terminal.
  void show(const std::string& text);

  /// Removes the line, so that other output can follow.
  void clear();

private:
  bool enabled_;
  bool shown_ = false;
};

/// Ctrl-C and its like as a descriptor to poll. Blocks the signals in the calling thread and in
/// those it starts later, so it must be made before any other thread. Its end gives the signals
/// their default effect back: then a second Ctrl-C ends the process at once.
class stop_signals {
public:
  /// Throws std::system_error.
  stop_signals();
  ~stop_signals();

  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  [[nodiscard]] int readable() const noexcept {
    return fd_.get();
  }

  /// The number of a signal that has arrived; 0 if none has.
  [[nodiscard]] int take() noexcept;

private:
  ::sigset_t before_;
  descriptor fd_;
};

/// Lines from standard input, as they come.
class line_input {
public:
  /// Reads once, which blocks unless poll(2) said that there is something to read. Appends the
  /// complete lines to `out`, without their newlines. False at the end of the input. Throws
  /// std::runtime_error if a line has no end in sight.
  bool read(std::vector<std::string>& out);

private:
  static constexpr std::size_t longest_line = std::size_t{64} << 10; ///< bytes

  std::string partial_;
};

} // namespace codesearch
