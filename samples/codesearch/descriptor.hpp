#pragma once

#include <utility>

#include <unistd.h>

namespace codesearch {

/// Owns a file descriptor and closes it. One owner; moves leave nothing behind.
class descriptor {
public:
  descriptor() = default;

  /// Takes over `fd`; below zero means none.
  explicit descriptor(int fd) noexcept : fd_(fd) {
  }

  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {
  }

  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  ~descriptor() {
    close();
  }

  [[nodiscard]] int get() const noexcept {
    return fd_;
  }

  [[nodiscard]] explicit operator bool() const noexcept {
    return fd_ >= 0;
  }

private:
  void close() noexcept {
    if (fd_ >= 0) {
      ::close(fd_); // nothing was written, so an error here loses nothing
    }
  }

  int fd_ = -1;
};

} // namespace codesearch
