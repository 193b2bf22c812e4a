#include "bench/support/calm.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace std::chrono_literals;

TEST_CASE("a process is calm once its other threads rest") {
  std::atomic<bool> spinning{true};
  std::thread spinner{[&] {
    const auto end = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < end) {
    }
    spinning = false;
    spinning.wait(false); // rests, but has not ended
  }};
  CHECK(basal::bench::await_calm());
  CHECK_FALSE(spinning);
  spinning = true;
  spinning.notify_one();
  spinner.join();
}

TEST_CASE("a thread that never rests is not waited for") {
  std::atomic<bool> stop{false};
  std::thread spinner{[&] {
    while (!stop) {
    }
  }};
  CHECK_FALSE(basal::bench::await_calm());
  stop = true;
  spinner.join();
}
