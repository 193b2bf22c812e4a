/// Lists of objects that notice when one of them was collected too early, and the
/// garbage that then overwrites it.
#pragma once

#include <basal/posse/gc/gc.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>

namespace canaries {

struct node {
  // Not the first word: the collector keeps a link there in what it has freed.
  const node* next;
  std::uint64_t check;
};

constexpr std::uint64_t check_of(std::uint64_t list, std::uint64_t index) {
  auto x = (list << 20 | index) * 0x9e3779b97f4a7c15u + 1;
  return x ^ (x >> 31);
}

/// A list whose objects nothing but the result points to.
[[gnu::noinline]] inline const node* make(std::uint64_t list, std::uint64_t length) {
  namespace gc = basal::posse::gc;
  const node* first = nullptr;
  for (auto i = length; i-- > 0;)
    first = gc::make<node>(first, check_of(list, i)).get();
  return first;
}

/// How many of its objects are not there any more: 0, or all from the first
/// lost one on.
[[gnu::noinline]] inline std::uint64_t lost(const node* first, std::uint64_t list,
                                            std::uint64_t length) {
  std::uint64_t index = 0;
  for (; index < length; ++index, first = first->next)
    if (first == nullptr || first->check != check_of(list, index))
      return length - index;
  return first == nullptr ? 0 : 1;
}

/// Overwrites what was collected.
[[gnu::noinline]] inline void litter(std::uint64_t objects) {
  make(~std::uint64_t{0} >> 24, objects);
}

/// Whether there are collections at all: the heap disables them under
/// ThreadSanitizer.
#ifdef __SANITIZE_THREAD__
inline constexpr bool collects = false;
#else
inline constexpr bool collects = true;
#endif

/// How long a test goes on that has not yet done what it wants to do: on a busy
/// machine each collection waits until all threads had a CPU.
class patience {
public:
  /// @param variable if it is set in the environment, patience is endless
  explicit patience(const char* variable) : endless_(std::getenv(variable) != nullptr) {
  }
  bool is_over() const {
    return !endless_ && std::chrono::steady_clock::now() > end_;
  }

private:
  bool endless_;
  std::chrono::steady_clock::time_point end_
    = std::chrono::steady_clock::now() + std::chrono::seconds{2};
};

/// A number from the environment: the same tests, but longer.
inline std::uint64_t amount(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::stoull(text) : otherwise;
}

/// Runs a hidden test of this program by itself: it may crash.
/// @returns whether it lost objects, which is what it checks, or was killed.
inline bool loses_objects_once(const char* tag) {
  // A crash shall look like one: AddressSanitizer would end with an exit code.
  const char* options = std::getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS", (std::string{options ? options : ""} + ":abort_on_error=1").c_str(), 1);
  std::string program = "/proc/self/exe";
  std::string test = tag;
  char* arguments[] = {program.data(), test.data(), nullptr};
  posix_spawn_file_actions_t silence;
  posix_spawn_file_actions_init(&silence);
  posix_spawn_file_actions_addopen(&silence, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&silence, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  auto error = posix_spawn(&child, program.c_str(), &silence, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&silence);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), "posix_spawn");
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) || WEXITSTATUS(status) == 0;
}

/// 50 attempts: a sound protocol passes them all; an error shows when a collection meets a moment
/// of a few nanoseconds.
inline bool loses_objects(const char* tag) {
  for (int attempt = 0; attempt < 50; ++attempt)
    if (loses_objects_once(tag))
      return true;
  return false;
}

} // namespace canaries
