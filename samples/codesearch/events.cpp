#include "events.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>

namespace codesearch {

event_queue::event_queue() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) {
    throw std::system_error(errno, std::system_category(), "cannot create an eventfd");
  }
}

void event_queue::post(event e) {
  {
    const std::lock_guard guard(mutex_);
    events_.push_back(std::move(e));
  }
  const std::uint64_t one = 1;
  // Fails only when 2^64 posts were not taken.
  [[maybe_unused]] const ::ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

std::vector<event> event_queue::take() {
  std::uint64_t posts;
  [[maybe_unused]] const ::ssize_t got = ::read(wake_.get(), &posts, sizeof posts);
  const std::lock_guard guard(mutex_);
  return std::exchange(events_, {});
}

} // namespace codesearch
