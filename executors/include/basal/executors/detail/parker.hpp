#pragma once

#include <atomic>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

/// A word that a thread can sleep on in the kernel.
class futex_word : public std::atomic<std::uint32_t> {
public:
  using atomic::atomic;

  /// Sleeps while the word holds `value`; may return early.
  void futex_wait(std::uint32_t value) noexcept;

  /// Wakes one sleeper. Uses `word` by address only: it may be gone.
  static void futex_wake_one(futex_word* word) noexcept;
};

/// Lets one thread sleep until another hands it a token. At most one token is
/// outstanding at any time (the idle set sees to that for executors).
///
/// States: `running` (the owner is awake), `sleeping` (it waits in the kernel,
/// or is about to), `unborn` (the owner is a thread that nobody has made yet), and
/// any other value: a token that nobody has taken yet. park() moves running ->
/// sleeping and any token -> running; unpark() stores a token and enters the
/// kernel only if it replaced `sleeping`. Whoever makes the owner moves `unborn` ->
/// running first; nothing leads back.
///
/// `Word` is a template parameter so that tests can run the same code under a
/// controlled scheduler.
template <class Word = futex_word>
class basic_parker {
public:
  using token = std::uint32_t;

  basic_parker() = default;

  /// Before anybody else knows the parker: its owner does not exist yet.
  void await_birth() noexcept {
    BASAL_ASSERT(state_.load(std::memory_order_relaxed) == running,
                 "a thread that runs is not born again");
    state_.store(unborn, std::memory_order_relaxed); // published with the parker
  }

  /// Before the owner is made, by whoever alone may make it.
  void be_born() noexcept {
    BASAL_ASSERT(is_unborn(), "a thread is made once");
    state_.store(running, std::memory_order_relaxed); // published with the thread
  }

  basic_parker(const basic_parker&) = delete;
  basic_parker& operator=(const basic_parker&) = delete;

  /// Waits for a token, in the kernel if there is none yet, and takes it. Owner only.
  /// Everything that happened before the matching unpark() is visible.
  /// @param slept set to true if it entered the kernel
  token park(bool* slept = nullptr) noexcept {
    auto seen = state_.load(std::memory_order_acquire);
    if (seen < first_token) {
      std::uint32_t expected = running;
      if (state_.compare_exchange_strong(expected, sleeping, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        if (slept != nullptr)
          *slept = true;
        // The kernel may return early (a signal): sleep until there is a token.
        while (state_.load(std::memory_order_acquire) == sleeping)
          state_.futex_wait(sleeping);
      }
      seen = state_.load(std::memory_order_acquire);
    }
    BASAL_ASSERT(seen >= first_token, "a thread wakes up with a token");
    // A plain store would do: nobody unparks again before this token is taken.
    state_.store(running, std::memory_order_relaxed);
    return seen;
  }

  /// Whether park() would return at once. Owner only.
  bool has_token() const noexcept {
    return state_.load(std::memory_order_relaxed) >= first_token;
  }

  /// Whether the owner sleeps in the kernel, or is about to, or does not exist yet: it needs the
  /// kernel to take a token. Any thread; a snapshot.
  bool is_in_kernel() const noexcept {
    const auto seen = state_.load(std::memory_order_relaxed);
    return seen == sleeping || seen == unborn;
  }

  /// Whether the owner sleeps in the kernel, or is about to: whoever alone may hand it a token sees
  /// what it did before, and may change it until the token is there.
  bool is_asleep() const noexcept {
    return state_.load(std::memory_order_acquire) == sleeping;
  }

  /// Whether nobody has made the owner yet. Certain for whoever alone may make it.
  bool is_unborn() const noexcept {
    return state_.load(std::memory_order_relaxed) == unborn;
  }

  /// Hands over `t`, which must be at least `first_token`. Any thread; wait-free except for the
  /// system call that wakes a sleeper. Touches the parker by address only once the token is in
  /// place, so that the owner may destroy it as soon as park() returns.
  void unpark(token t = first_token) noexcept {
    BASAL_ASSERT(t >= first_token, "a token is no state");
    auto* word = &state_;
    auto before = state_.exchange(t, std::memory_order_acq_rel);
    BASAL_ASSERT(before < first_token, "a thread is unparked once before it parks again");
    if (before == sleeping)
      Word::futex_wake_one(word); // by address: the owner may be gone by now
  }

  static constexpr token first_token = 3;

private:
  static constexpr std::uint32_t running = 0;
  static constexpr std::uint32_t sleeping = 1;
  static constexpr std::uint32_t unborn = 2;

  /// Written by the owner (running, sleeping) and by whoever unparks (a token).
  /// The release in unpark() pairs with the acquire in park().
  Word state_{running};
};

/// A class of its own, not an alias, so that headers can name it without
/// including this one.
class parker : public basic_parker<> {};

} // namespace basal::executors
