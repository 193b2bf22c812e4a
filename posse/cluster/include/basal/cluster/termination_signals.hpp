/// A worker program's graceful end.
#pragma once

#include <memory>
#include <stop_token>

namespace basal::cluster {

/// Turns SIGTERM and SIGINT into a stop, for one part of a program. Blocks the signals in the
/// calling thread and in those that it starts afterwards, so make it before any other thread.
class termination_signals {
public:
  termination_signals();
  ~termination_signals();
  termination_signals(const termination_signals&) = delete;
  termination_signals& operator=(const termination_signals&) = delete;

  /// Is stopped by the first SIGTERM or SIGINT. Any thread.
  std::stop_token token() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace basal::cluster
