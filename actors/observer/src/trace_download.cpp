#include "trace_download.hpp"

#include <basal/executors/recorder.hpp>
#include <basal/executors/trace.hpp>

#include <cerrno>
#include <span>
#include <system_error>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace basal::observer {

namespace {

/// A file in memory, since the recorder writes files. It has a path as long as it is open.
class memory_file {
public:
  memory_file() : fd_(memfd_create("basal-trace", MFD_CLOEXEC)) {
    if (fd_ < 0)
      throw std::system_error(errno, std::generic_category(), "no file in memory for a recording");
  }

  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  ~memory_file() {
    close(fd_);
  }

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(fd_);
  }

  std::vector<std::byte> content() const {
    std::vector<std::byte> result(static_cast<std::size_t>(lseek(fd_, 0, SEEK_END)));
    std::size_t read = 0;
    while (read < result.size()) {
      const auto got
        = pread(fd_, result.data() + read, result.size() - read, static_cast<off_t>(read));
      if (got <= 0)
        throw std::system_error(errno, std::generic_category(), "a recording cannot be read");
      read += static_cast<std::size_t>(got);
    }
    return result;
  }

private:
  const int fd_;
};

} // namespace

std::string trace_of_last(std::chrono::seconds age) {
  const memory_file file;
  executors::recorder::write(file.path(), age);
  return executors::to_perfetto(file.content()).bytes;
}

} // namespace basal::observer
