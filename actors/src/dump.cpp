#include <basal/actors/dump.hpp>

#include <basal/actors/detail/system_core.hpp>
#include <basal/posse/dump.hpp>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace basal::actors {

namespace {

/// File descriptor that the signal handler writes to; -1: no dump_on_signal exists.
constinit std::atomic<int> bell{-1};

void ring() noexcept {
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written
    = write(bell.load(std::memory_order_relaxed), &once, sizeof once);
}

void on_signal(int) {
  const auto saved = errno;
  ring();
  errno = saved;
}

void print(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto n = write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0 && errno != EINTR)
      return;
    text.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
}

} // namespace

std::string dump(caf::actor_system& system) {
  auto& core = detail::system_core::of(system, "there is nothing to dump");
  std::vector pools{&core.messages(), &core.compute().compute()};
  if (auto* callers = core.compute().call_executors())
    pools.push_back(callers);
  return posse::dump(pools);
}

dump_on_signal::dump_on_signal(caf::actor_system& system, int signal)
  : system_(system), signal_(signal) {
  detail::system_core::of(system, "there is nothing to dump");
  const auto made = eventfd(0, EFD_CLOEXEC);
  if (made < 0)
    throw std::system_error(errno, std::generic_category(), "basal: eventfd");
  if (int none = -1; !bell.compare_exchange_strong(none, made, std::memory_order_relaxed)) {
    close(made);
    throw std::logic_error("basal: another dump_on_signal waits for its signal; destroy it first");
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, &before_) != 0) {
    const auto error = errno;
    close(bell.exchange(-1, std::memory_order_relaxed));
    throw std::system_error(error, std::generic_category(),
                            "basal: signal " + std::to_string(signal)
                              + " cannot have a handler that dumps; SIGQUIT can");
  }
  thread_ = std::thread{[this] { thread_main(); }};
  pthread_setname_np(thread_.native_handle(), "basal.dump");
}

dump_on_signal::~dump_on_signal() {
  sigaction(signal_, &before_, nullptr);
  stopping_.store(true, std::memory_order_release);
  ring();
  thread_.join();
  close(bell.exchange(-1, std::memory_order_relaxed));
}

void dump_on_signal::thread_main() {
  const auto fd = bell.load(std::memory_order_relaxed);
  for (std::uint64_t rung = 0; !stopping_.load(std::memory_order_acquire);) {
    if (read(fd, &rung, sizeof rung) < 0 || stopping_.load(std::memory_order_acquire))
      continue;
    try {
      print(dump(system_));
    } catch (const std::exception& problem) { // no memory or no addresses
      print(std::string{"basal.actors: no dump: "} + problem.what() + '\n');
    }
  }
}

} // namespace basal::actors
