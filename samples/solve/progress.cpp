#include "progress.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include "common/program.hpp"

namespace solve {

using namespace std::chrono_literals;

std::string progress_text(const std::string& what, const std::string& units, std::uint64_t done,
                          std::uint64_t total, double seconds) {
  auto whole = [](double s) { return std::to_string(static_cast<std::uint64_t>(s)) + " s"; };
  if (total == 0)
    return what + ": " + whole(seconds) + " so far";
  auto text = what + ": " + std::to_string(done) + " of " + std::to_string(total) + " " + units;
  if (done == 0)
    return text + ", " + whole(seconds) + " so far";
  auto share = static_cast<double>(done) / static_cast<double>(total);
  text += " (" + std::to_string(static_cast<int>(100 * share)) + " %)";
  return text + ", " + whole(std::ceil(seconds / share * (1 - share))) + " left";
}

progress::progress(std::string what, std::string units)
  : what_(std::move(what)),
    units_(std::move(units)),
    terminal_(::isatty(STDERR_FILENO) == 1),
    writer_([this] { run(); }) {
}

progress::~progress() {
  {
    std::lock_guard guard{mutex_};
    end_ = true;
  }
  ended_.notify_one();
  writer_.join();
}

void progress::show(std::uint64_t done, std::uint64_t total) {
  std::lock_guard guard{mutex_};
  done_ = done;
  total_ = total;
}

void progress::run() {
  const auto interval = terminal_ ? 100ms : 5000ms;
  auto next = start_ + (terminal_ ? 500ms : interval);
  bool shown = false;
  std::unique_lock guard{mutex_};
  while (!ended_.wait_until(guard, next, [this] { return end_; })) {
    next += interval;
    const std::chrono::duration<double> seconds = clock::now() - start_;
    const auto text = progress_text(what_, units_, done_, total_, seconds.count());
    guard.unlock(); // a terminal may be slow
    if (terminal_)
      std::fprintf(stderr, "\r\033[K%s", text.c_str());
    else
      samples::tell("solve", text);
    shown = true;
    guard.lock();
  }
  if (shown && terminal_)
    std::fputs("\r\033[K", stderr);
}

} // namespace solve
