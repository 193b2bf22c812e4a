#include <basal/executors/detail/parker.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace basal::executors {

static_assert(sizeof(futex_word) == sizeof(std::uint32_t), "the kernel waits on the plain word");

void futex_word::futex_wait(std::uint32_t value) noexcept {
  syscall(SYS_futex, this, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void futex_word::futex_wake_one(futex_word* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

} // namespace basal::executors
