#include <basal/executors/recorder.hpp>

#include <array>
#include <atomic>
#include <bitset>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <basal/executors/detail/recording.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/report.hpp>

#include "recorder_environment.hpp"
#include "recording_file.hpp"

namespace basal::executors {

namespace {

using basal::detail::recording;
using recording_file::writer;

constexpr const char* remedy
  = "; make room there, or name a file in a folder that this process may write to";

int open_file(const char* path) noexcept {
  return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

[[noreturn]] void refuse(int error, const std::string& path) {
  throw std::system_error(error, std::generic_category(),
                          "basal: cannot write the flight recording " + path + remedy);
}

/// Everything that is younger than `since`. @returns errno, or 0. Also in signal handlers.
int write_all(int file, std::uint64_t since) noexcept {
  writer out{file};
  out.begin();
  for (std::size_t i = 0; i < recording::count(); ++i)
    out.add_records(i, 0, since);
  out.add_names(0);
  out.end();
  return out.error();
}

// -- on signals ---------------------------------------------------------------

constexpr std::size_t max_path = 4096;

/// Paths of the recordings that signal handlers write. A second call changes an installed one's.
std::array<char, max_path> asked_path{};
std::array<char, max_path> fatal_path{};
std::mutex fatal_path_mutex; ///< of those who write or read it outside of the handler

constexpr std::array fatal_signals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
std::array<struct sigaction, fatal_signals.size()> fatal_before{};
std::atomic<bool> fatal_written{false};

void set_path(std::array<char, max_path>& to, const std::string& path) {
  if (path.size() >= max_path)
    throw std::invalid_argument("basal: the path of a flight recording has at most "
                                + std::to_string(max_path - 1) + " bytes; shorten it");
  std::memcpy(to.data(), path.c_str(), path.size() + 1);
}

void say(std::string_view text) noexcept {
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// In a handler: neither malloc nor stdio.
void write_in_handler(const char* path) noexcept {
  const auto saved = errno;
  const auto file = open_file(path);
  auto error = file < 0 ? errno : 0;
  if (file >= 0) {
    error = write_all(file, 0);
    close(file);
  }
  if (error != 0) {
    say("basal: cannot write the flight recording ");
    say(path);
    say(remedy);
#ifdef __GLIBC__
    say(": ");
    if (const auto* why = strerrordesc_np(error))
      say(why);
#endif
    say("\n");
  }
  errno = saved;
}

void on_fatal(int number, siginfo_t* info, void* context) {
  if (!fatal_written.exchange(true, std::memory_order_acq_rel))
    write_in_handler(fatal_path.data());
  for (std::size_t i = 0; i < fatal_signals.size(); ++i) {
    if (fatal_signals[i] != number)
      continue;
    const auto& before = fatal_before[i];
    if ((before.sa_flags & SA_SIGINFO) != 0)
      before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
      before.sa_handler(number);
    else
      signal(number, SIG_DFL); // a fault happens again on return; abort() raises anew
  }
}

// -- streams ------------------------------------------------------------------

constexpr std::chrono::milliseconds between_passes{20};

/// Relaxed: a statistic.
std::atomic<std::uint64_t> lost_records{0};

/// A file to which a thread adds what is new, every so often.
class streaming {
public:
  streaming(int file, std::string path) : path_(std::move(path)), file_(file), out_(file) {
    out_.begin();
    thread_ = std::thread{[this] { thread_main(); }};
    pthread_setname_np(thread_.native_handle(), "basal.trace");
  }

  ~streaming() {
    if (getpid()
        != process_) { // a child of fork(), which has no such thread; the file is its parent's
      thread_.detach();
      close(file_);
      return;
    }
    {
      std::lock_guard guard{mutex_};
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
    pass();
    out_.end();
    complain();
    close(file_);
  }

  streaming(const streaming&) = delete;
  streaming& operator=(const streaming&) = delete;

private:
  void thread_main() {
    std::unique_lock guard{mutex_};
    while (!changed_.wait_for(guard, between_passes, [this] { return stopping_; }) && !complained_)
      pass();
  }

  void pass() {
    for (std::size_t i = 0; i < recording::count(); ++i)
      if (next_[i] != recording::at(i).ring().written()) {
        const auto lost = out_.lost();
        next_[i] = out_.add_records(i, next_[i], 0);
        // Records that were overwritten before the stream began are not lost.
        if (followed_[i])
          lost_records.fetch_add(out_.lost() - lost, std::memory_order_relaxed);
        followed_[i] = true;
      }
    names_ = out_.add_names(names_);
    complain();
  }

  void complain() {
    if (out_.error() == 0 || std::exchange(complained_, true))
      return;
    report(report_level::error, "basal.executors",
           "the stream of records ends: cannot write " + path_ + ": "
             + std::generic_category().message(out_.error()) + remedy);
  }

  const std::string path_;
  const pid_t process_ = getpid();
  const int file_;
  writer out_;
  std::array<std::uint64_t, recording::max_count> next_{};
  std::bitset<recording::max_count> followed_; ///< passed over before
  std::size_t names_ = 0;
  bool complained_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false; ///< guarded by the mutex
  std::thread thread_;
};

std::mutex stream_mutex;
std::unique_ptr<streaming> the_stream; ///< guarded by it; ends with the program's statics

} // namespace

void recorder::write(const std::string& path, std::chrono::nanoseconds age) {
  const auto file = open_file(path.c_str());
  if (file < 0)
    refuse(errno, path);
  const auto now = tick_clock::now();
  const auto ticks = age == std::chrono::nanoseconds::max() ? now : tick_clock::to_ticks(age);
  auto error = write_all(file, ticks < now ? now - ticks : 0);
  if (close(file) != 0 && error == 0)
    error = errno;
  if (error != 0)
    refuse(error, path);
}

void recorder::write_on_signal(int number, const std::string& path) {
  set_path(asked_path, path);
  tick_clock::per_nanosecond(); // measured here, not in the handler
  struct sigaction action {};
  action.sa_handler = [](int) { write_in_handler(asked_path.data()); };
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, &action, nullptr) != 0)
    throw std::system_error(errno, std::generic_category(),
                            "basal: signal " + std::to_string(number)
                              + " cannot have a handler that writes recordings; SIGUSR2 can");
}

void recorder::write_when_fatal(const std::string& path) {
  {
    std::lock_guard guard{fatal_path_mutex};
    set_path(fatal_path, path);
  }
  tick_clock::per_nanosecond();
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fatal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < fatal_signals.size(); ++i)
      sigaction(fatal_signals[i], &action, &fatal_before[i]);
  });
}

std::string recorder::path_when_fatal() {
  std::lock_guard guard{fatal_path_mutex};
  return fatal_path.data();
}

std::uint64_t recorder::lost() noexcept {
  return lost_records.load(std::memory_order_relaxed);
}

void recorder::stream(const std::string& path) {
  std::lock_guard guard{stream_mutex};
  if (the_stream)
    throw std::logic_error("basal: records are streamed to a file already; call stop_stream()");
  const auto file = open_file(path.c_str());
  if (file < 0)
    refuse(errno, path);
  the_stream = std::make_unique<streaming>(file, path);
}

void recorder::stop_stream() noexcept {
  std::lock_guard guard{stream_mutex};
  the_stream.reset();
}

void obey_recorder_environment() {
  static std::once_flag obeyed;
  std::call_once(obeyed, [] {
    const auto value_of = [](const char* name) -> std::string_view {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): safe as long as the program sets no variables
      const auto* value = std::getenv(name);
      return value != nullptr ? value : "";
    };
    if (const auto wanted = value_of("BASAL_RECORDER"); wanted == "false")
      recorder::use(false);
    else if (!wanted.empty() && wanted != "true")
      report(report_level::error, "basal.executors",
             "BASAL_RECORDER is \"" + std::string{wanted}
               + "\", and the flight recorder stays on; say true or false");
    try {
      if (const auto path = value_of("BASAL_RECORDING"); !path.empty())
        recorder::write_when_fatal(std::string{path});
      if (const auto path = value_of("BASAL_TRACE"); !path.empty())
        recorder::stream(std::string{path});
    } catch (const std::exception& problem) {
      report(report_level::error, "basal.executors", problem.what()); // the program goes on without
    }
  });
}

} // namespace basal::executors
