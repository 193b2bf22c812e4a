#include "overflow_report.hpp"

#include "sanitizer.hpp"

#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>

#include <unistd.h>

#include <cstring>
#include <mutex>

namespace basal::executors {

namespace {

struct sigaction handler_before;

/// A line of text put together without malloc or stdio, which a signal handler
/// may not call.
class line {
public:
  line& operator<<(const char* text) noexcept {
    auto length = std::min(std::strlen(text), sizeof text_ - size_);
    std::memcpy(text_ + size_, text, length);
    size_ += length;
    return *this;
  }

  line& operator<<(std::size_t number) noexcept {
    char digits[24];
    auto* first = digits + sizeof digits - 1;
    *first = '\0';
    do
      *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << first;
  }

  void print() const noexcept {
    [[maybe_unused]] auto written = write(STDERR_FILENO, text_, size_);
  }

private:
  char text_[512];
  std::size_t size_ = 0;
};

} // namespace

overflow_report::overflow_report() {
#if !defined(BASAL_ASAN) && !defined(BASAL_TSAN)
  static std::once_flag installed;
  std::call_once(installed, install);
  handler_stack_ = std::make_unique<std::byte[]>(handler_stack_bytes);
  stack_t mine{};
  mine.ss_sp = handler_stack_.get();
  mine.ss_size = handler_stack_bytes;
  sigaltstack(&mine, &before_);
#endif
}

overflow_report::~overflow_report() {
  if (handler_stack_)
    sigaltstack(&before_, nullptr);
}

void overflow_report::install() {
  struct sigaction action {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &handler_before);
}

void overflow_report::handle(int number, siginfo_t* info, void* context) {
  print_if_overflow(info->si_addr);
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(number, info, context);
  } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
    handler_before.sa_handler(number);
  } else {
    // Returning repeats the access, which now ends the program.
    signal(number, SIG_DFL);
  }
}

void overflow_report::print_if_overflow(const void* fault) noexcept {
  auto* self = executor::current();
  if (self == nullptr || self->running_ == nullptr)
    return;
  const auto& s = self->running_->stack_;
  const auto* address = static_cast<const std::byte*>(fault);
  if (s.floor == nullptr || address >= s.floor || address < s.floor - stack_pool::guard_bytes)
    return;
  const auto* work = self->running_->work_name_;
  line text;
  text << "basal: stack overflow on executor " << self->pool().config().name.c_str()
       << self->index() << ": " << (work != nullptr ? work : "a task") << " used all of its "
       << s.bytes
       << " bytes. Let it recurse less deeply, or give fibers larger stacks: stack_bytes in the "
          "configuration, --basal.stack-bytes for an actor system.\n";
  text.print();
}

} // namespace basal::executors
