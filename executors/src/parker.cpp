#include <basal/executors/parker.hpp>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu_pause.hpp"

namespace basal::executors {

static_assert(sizeof(futex_word) == sizeof(std::uint32_t), "the kernel waits on the plain word");

void futex_word::futex_wait(std::uint32_t value) noexcept {
  syscall(SYS_futex, this, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void futex_word::futex_wake_one(futex_word* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// Between the later looks, others have a turn on this CPU: the one who is to wake us
// may be among them, and wait for it until we sleep. 0.4 us if there is nobody.
void futex_word::pause(std::uint32_t looks) noexcept {
  for (int i = 0; i < 8; ++i)
    cpu_pause();
  if (looks >= keen_looks)
    sched_yield();
}

} // namespace basal::executors
