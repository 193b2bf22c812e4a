#include <basal/executors/parker.hpp>

#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <basal/executors/detail/assert.hpp>

#include "cpu_pause.hpp"

namespace basal::executors {

namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t),
              "the kernel waits on the plain word");

void futex_wait(std::atomic<std::uint32_t>* word, std::uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void futex_wake_one(std::atomic<std::uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

} // namespace

parker::token parker::park(std::uint32_t spins) noexcept {
  auto seen = state_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < spins && seen < first_token; ++i) {
    cpu_pause();
    seen = state_.load(std::memory_order_acquire);
  }
  if (seen < first_token) {
    std::uint32_t expected = running;
    if (state_.compare_exchange_strong(expected, sleeping, std::memory_order_acquire,
                                       std::memory_order_acquire)) {
      // The kernel may return early (a signal): sleep until there is a token.
      while (state_.load(std::memory_order_acquire) == sleeping)
        futex_wait(&state_, sleeping);
    }
    seen = state_.load(std::memory_order_acquire);
  }
  // A plain store would do: nobody unparks again before this token is taken.
  state_.store(running, std::memory_order_relaxed);
  return seen;
}

void parker::unpark(token t) noexcept {
  BASAL_ASSERT(t >= first_token);
  auto* word = &state_;
  auto before = state_.exchange(t, std::memory_order_acq_rel);
  BASAL_ASSERT(before < first_token);
  if (before == sleeping)
    futex_wake_one(word); // by address: the owner may be gone by now
}

} // namespace basal::executors
