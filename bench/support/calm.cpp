#include "bench/support/calm.hpp"

#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

namespace basal::bench {

namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds time_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

constexpr std::chrono::nanoseconds window = 500us;
constexpr auto little = window / 20; // a timer's thread may wake in between
constexpr int most_looks = 200;

} // namespace

bool await_calm() {
  return await_calm(
    [] { return time_of(CLOCK_PROCESS_CPUTIME_ID) - time_of(CLOCK_THREAD_CPUTIME_ID); },
    [] { std::this_thread::sleep_for(window); });
}

bool await_calm(const std::function<std::chrono::nanoseconds()>& used_by_others,
                const std::function<void()>& pause) {
  auto used = used_by_others();
  for (int looks = 0; looks < most_looks; ++looks) {
    pause();
    const auto before = std::exchange(used, used_by_others());
    if (used - before < little)
      return true;
  }
  return false;
}

} // namespace basal::bench
