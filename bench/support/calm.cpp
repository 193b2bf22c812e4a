#include "bench/support/calm.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace basal::bench {

namespace {

using namespace std::chrono_literals;

constexpr int most_looks = 200;

// The state is the letter behind the name, which may hold any character (proc_pid_stat(5)).
bool runs(const std::filesystem::path& task) {
  std::ifstream file{task / "stat"};
  std::string line;
  std::getline(file, line); // empty when the thread has ended meanwhile
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && line.compare(name_end, 3, ") R") == 0;
}

// States, not CPU time: Linux adds up that of other running threads from tick to tick, of 1 to
// 10 ms, so that for shorter than that a thread which spins seems to rest.
bool others_run() {
  const auto self = std::to_string(gettid());
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"})
    if (task.path().filename() != self && runs(task.path()))
      return true;
  return false;
}

} // namespace

bool await_calm() {
  return await_calm(others_run, [] { std::this_thread::sleep_for(500us); });
}

bool await_calm(const std::function<bool()>& others_run, const std::function<void()>& pause) {
  int resting = 0;
  for (int looks = 0; looks < most_looks; ++looks) {
    pause();
    resting = others_run() ? 0 : resting + 1;
    if (resting == 2)
      return true;
  }
  return false;
}

} // namespace basal::bench
