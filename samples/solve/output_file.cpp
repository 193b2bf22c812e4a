#include "output_file.hpp"

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace solve {

namespace fs = std::filesystem;

namespace {

// Above this it is written: a number of a solution is some 20 characters.
constexpr std::size_t most_buffered = 1 << 16;

} // namespace

output_file::output_file(std::string what, const std::string& path)
  : what_(std::move(what)), path_(path) {
  std::error_code ignored;
  if (fs::is_symlink(path_, ignored)) // the link stays, and its file is replaced
    if (auto target = fs::weakly_canonical(path_, ignored); !ignored)
      path_ = target.string();
  const auto there = fs::status(path_, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0)
      fail(errno);
    return;
  }
  if (fs::exists(there) && ::access(path_.c_str(), W_OK) != 0)
    fail(errno);
  auto name = path_ + ".XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0)
    fail(errno);
  temporary_ = name;
  // mkostemp() keeps others out, as for secrets; an ordinary file is what the mask makes of it.
  const auto mask = ::umask(0);
  ::umask(mask);
  const auto mode
    = fs::exists(there) ? static_cast<mode_t>(there.permissions()) & 0777 : mode_t{0666} & ~mask;
  ::fchmod(descriptor_, mode);
}

output_file::~output_file() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

void output_file::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= most_buffered)
    flush();
}

void output_file::commit() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0)
    fail(errno);
  if (temporary_.empty())
    return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(errno);
  temporary_.clear();
}

void output_file::flush() {
  std::string_view rest{buffer_};
  while (!rest.empty()) {
    const auto written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      fail(errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void output_file::fail(int reason) const {
  throw std::runtime_error{"cannot write " + what_ + " to " + path_ + ": "
                           + std::generic_category().message(reason)};
}

} // namespace solve
