#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace codesearch {

namespace {

std::size_t terminal_columns() {
  ::winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return 80;
  }
  return size.ws_col;
}

} // namespace

status_line::status_line() : enabled_(::isatty(STDERR_FILENO) == 1) {
}

void status_line::show(const std::string& text) {
  if (enabled_) {
    // One column stays free: writing to the last one makes some terminals wrap.
    const std::string cut = text.substr(0, terminal_columns() - 1);
    std::fprintf(stderr, "\r\033[K%s", cut.c_str());
    std::fflush(stderr);
    shown_ = true;
  }
}

void status_line::clear() {
  if (std::exchange(shown_, false)) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
}

stop_signals::stop_signals() {
  ::sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&set, signal);
  }
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, &before_); error != 0) {
    throw std::system_error(error, std::system_category(), "cannot block signals");
  }
  fd_ = descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) {
    throw std::system_error(errno, std::system_category(), "cannot create a signalfd");
  }
}

stop_signals::~stop_signals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int stop_signals::take() noexcept {
  ::signalfd_siginfo info;
  return ::read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                              : 0;
}

bool line_input::read(std::vector<std::string>& out) {
  char buffer[4096];
  const ::ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (got < 0) {
    return errno == EINTR || errno == EAGAIN;
  }
  if (got == 0) {
    if (!partial_.empty()) {
      out.push_back(std::exchange(partial_, {}));
    }
    return false;
  }
  std::string_view rest(buffer, static_cast<std::size_t>(got));
  for (std::size_t end = 0; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
    out.push_back(std::exchange(partial_, {}).append(rest.substr(0, end)));
  }
  partial_.append(rest);
  if (partial_.size() > longest_line) {
    throw std::runtime_error(
      "standard input has a line of more than 64 KiB: write one query a line");
  }
  return true;
}

} // namespace codesearch
