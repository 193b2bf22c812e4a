#include "progress.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

#include <unistd.h>

namespace solve {

std::string progress_text(const std::string& what, const std::string& units, std::uint64_t done,
                          std::uint64_t total, double seconds) {
  auto text = what + ": " + std::to_string(done) + " of " + std::to_string(total) + " " + units;
  if (total == 0 || done == 0)
    return text;
  auto share = static_cast<double>(done) / static_cast<double>(total);
  text += " (" + std::to_string(static_cast<int>(100 * share)) + " %)";
  auto left = std::ceil(seconds / share * (1 - share));
  return text + ", " + std::to_string(static_cast<std::uint64_t>(left)) + " s left";
}

progress::progress(std::string what, std::string units)
  : what_(std::move(what)), units_(std::move(units)), watched_(::isatty(STDERR_FILENO) == 1) {
}

progress::~progress() {
  if (shown_ != clock::time_point{})
    std::fputs("\r\033[K", stderr);
}

void progress::show(std::uint64_t done, std::uint64_t total) {
  if (!watched_)
    return;
  auto now = clock::now();
  if (now - start_ < std::chrono::milliseconds{500}
      || now - shown_ < std::chrono::milliseconds{100})
    return;
  shown_ = now;
  std::chrono::duration<double> seconds = now - start_;
  auto text = progress_text(what_, units_, done, total, seconds.count());
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

} // namespace solve
