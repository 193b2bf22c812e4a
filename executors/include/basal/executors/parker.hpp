#pragma once

#include <atomic>
#include <cstdint>

namespace basal::executors {

/// Lets one thread sleep until another hands it a token. At most one token is
/// outstanding at any time (the idle set sees to that for executors).
///
/// States: `running` (the owner is awake), `sleeping` (it waits in the kernel,
/// or is about to), and any other value: a token that nobody has taken yet.
/// park() moves running -> sleeping and any token -> running; unpark() stores a
/// token and enters the kernel only if it replaced `sleeping`.
class parker {
public:
  using token = std::uint32_t;

  parker() = default;
  parker(const parker&) = delete;
  parker& operator=(const parker&) = delete;

  /// Waits for a token and takes it. Owner only. Looks for it `spins` times,
  /// with a pause of some 40 cycles in between, before it enters the kernel.
  /// Everything that happened before the matching unpark() is visible.
  token park(std::uint32_t spins = 0) noexcept;

  /// Hands over `t`, which must be at least `first_token`. Any thread;
  /// wait-free but for the system call that wakes a sleeper. Touches the parker
  /// by address only once the token is in place, so that the owner may destroy
  /// it as soon as park() returns.
  void unpark(token t = first_token) noexcept;

  static constexpr token first_token = 2;

private:
  static constexpr std::uint32_t running = 0;
  static constexpr std::uint32_t sleeping = 1;

  /// Written by the owner (running, sleeping) and by whoever unparks (a token).
  /// The release in unpark() pairs with the acquire in park().
  std::atomic<std::uint32_t> state_{running};
};

} // namespace basal::executors
