#include <basal/executors/detail/thread_heritage.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <cstring>
#include <new>

namespace basal::executors {

namespace {

/// Empty when the kernel does not say.
std::vector<std::byte> cpus_of_this_thread() {
  // More CPUs than the mask holds make the call fail: then grow.
  for (std::size_t bytes = sizeof(cpu_set_t); bytes <= (1 << 16) / 8; bytes *= 2) {
    std::vector<std::byte> mask(bytes);
    if (sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(mask.data())) == 0)
      return mask;
  }
  return {};
}

} // namespace

thread_heritage::thread_heritage() : cpus_(cpus_of_this_thread()) {
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked_);
  sched_param parameters{};
  pthread_getschedparam(pthread_self(), &policy_, &parameters);
  priority_ = parameters.sched_priority;
  nice_ = getpriority(PRIO_PROCESS, 0); // on Linux, of the thread
}

std::optional<cpu_set_t> thread_heritage::cpus() const noexcept {
  if (cpus_.size() != sizeof(cpu_set_t))
    return std::nullopt;
  cpu_set_t result;
  std::memcpy(&result, cpus_.data(), sizeof result);
  return result;
}

void thread_heritage::take_on(bool with_cpus) const noexcept {
  // Equal attributes are not set: a mask that was set by hand no longer grows with the cpuset.
  try {
    const thread_heritage mine;
    if (with_cpus && mine.cpus_ != cpus_ && !cpus_.empty())
      sched_setaffinity(0, cpus_.size(), reinterpret_cast<const cpu_set_t*>(cpus_.data()));
    if (mine.policy_ != policy_ || mine.priority_ != priority_) {
      sched_param parameters{};
      parameters.sched_priority = priority_;
      pthread_setschedparam(pthread_self(), policy_, &parameters);
    }
    if (mine.nice_ != nice_)
      setpriority(PRIO_PROCESS, 0, nice_);
  } catch (const std::bad_alloc&) { // it keeps what it has from its maker
  }
  pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
}

no_signals::no_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

no_signals::~no_signals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace basal::executors
