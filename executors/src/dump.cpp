#include <basal/executors/dump.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <tuple>
#include <typeinfo>
#include <unistd.h>
#include <vector>

#include <basal/executors/detail/demangled.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>

#include "unwind.hpp"

namespace basal::executors {

namespace {

constexpr std::size_t most_frames = 40;
constexpr std::size_t most_letters = 120; // of a name; what is longer is cut

/// Addresses for one executor's answer: some 40,000 fibers. Memory is used for what there is.
constexpr std::size_t answer_bytes = std::size_t{16} << 20;

/// Facts about one fiber, in the answer's memory; its frames follow, and words of a module above.
struct note {
  std::array<char, most_letters + 1> work{};
  const char* waits_for = nullptr; ///< null: it runs
  std::uint64_t waits_since = 0;
  std::size_t frames = 0;
  std::size_t words = 0;

  std::uintptr_t* first_frame() noexcept {
    return reinterpret_cast<std::uintptr_t*>(this + 1);
  }
  const std::uintptr_t* first_frame() const noexcept {
    return reinterpret_cast<const std::uintptr_t*>(this + 1);
  }
  std::size_t bytes() const noexcept {
    return sizeof(note) + (frames + words) * sizeof(std::uintptr_t);
  }
};

constexpr std::size_t largest_note_bytes
  = sizeof(note) + (most_frames + dump_part::most_words) * sizeof(std::uintptr_t);

} // namespace

/// One executor's part of a dump. The handler on its thread writes it, once, and publishes it by
/// a release store of `state_`; whoever asked reads it after an acquire load.
class dump_answer {
public:
  enum class state : int { asked, given, in_a_switch };

  dump_answer(executor& who, dump_part* more)
    : who_(who),
      more_(more),
      memory_(mmap(nullptr, answer_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED)
      throw std::system_error(errno, std::generic_category(), "basal: no addresses for a dump");
  }

  ~dump_answer() {
    munmap(memory_, answer_bytes);
  }

  dump_answer(const dump_answer&) = delete;
  dump_answer& operator=(const dump_answer&) = delete;

  executor& who() const noexcept {
    return who_;
  }

  bool is_given() const noexcept {
    return state_.load(std::memory_order_acquire) == state::given;
  }

  /// Whether it had a thread when it was to be asked. That may have begun since.
  bool is_asked() const noexcept {
    return is_asked_;
  }

  /// Asks, or asks again where the signal came between two stacks.
  void ask() noexcept {
    const auto thread = who_.thread();
    if (thread == 0 || is_given())
      return;
    if (!is_asked_ || state_.load(std::memory_order_acquire) == state::in_a_switch) {
      is_asked_ = true;
      state_.store(state::asked, std::memory_order_relaxed);
      syscall(SYS_tgkill, getpid(), thread, SIGURG);
    }
  }

  /// In the handler, on the executor's thread. Lists of fibers change by single stores
  /// (stack_scan), so they are whole wherever the signal came.
  void give(const void* ucontext) noexcept {
    if (state_.load(std::memory_order_relaxed) != state::asked)
      return;
    if (who_.switching_.load(std::memory_order_relaxed)) {
      state_.store(state::in_a_switch, std::memory_order_release);
      return;
    }
    now_ = who_.now();
    doing_ = who_.doing();
    if (doing_ != nullptr)
      if (auto* n = add(doing_)) {
        n->frames = unwind::interrupted(ucontext, n->first_frame(), most_frames);
        add_words(*n, *who_.running_, true);
      }
    for (auto* f = who_.fibers_.load(std::memory_order_acquire); f != nullptr;
         f = f->next_of_home_) {
      if (f == who_.running_ || f->waits_for_ == nullptr)
        continue;
      close();
      auto* n = add(f->label());
      if (n == nullptr) {
        ++left_out_;
        continue;
      }
      // A suspended object is alive, so its type can be asked.
      if (const auto item = f->work_; item && item.ops->type_of != nullptr)
        append(*n, item.ops->type_of(item.object).name());
      n->waits_for = f->waits_for_;
      n->waits_since = f->waits_since_;
      n->frames = unwind::left(f->context_, n->first_frame(), most_frames);
      add_words(*n, *f, false);
    }
    close();
    state_.store(state::given, std::memory_order_release);
  }

  const char* doing() const noexcept {
    return doing_;
  }
  std::uint64_t now() const noexcept {
    return now_;
  }
  std::size_t left_out() const noexcept {
    return left_out_;
  }

  /// Calls `visit(note)` for each.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t at = 0; at < used_;) {
      const auto& n = *reinterpret_cast<const note*>(static_cast<const std::byte*>(memory_) + at);
      visit(n);
      at += n.bytes();
    }
  }

private:
  /// A new note behind the last one, or null where there is no room for one more.
  note* add(const char* work) noexcept {
    if (used_ + largest_note_bytes > answer_bytes)
      return nullptr;
    open_ = new (static_cast<std::byte*>(memory_) + used_) note;
    std::strncpy(open_->work.data(), work, most_letters);
    return open_;
  }

  /// A type's mangled name behind the kind of the work, after a zero.
  static void append(note& n, const char* type) noexcept {
    const auto length = std::strlen(n.work.data());
    if (length + 2 < most_letters)
      std::strncpy(n.work.data() + length + 1, type, most_letters - length - 1);
  }

  void add_words(note& n, fiber& f, bool runs) noexcept {
    if (more_ != nullptr)
      n.words = more_->note(f, runs, {n.first_frame() + n.frames, dump_part::most_words});
  }

  void close() noexcept {
    if (open_ != nullptr)
      used_ += open_->bytes();
    open_ = nullptr;
  }

  executor& who_;
  dump_part* const more_;
  void* const memory_;
  bool is_asked_ = false; // of who asks alone
  std::atomic<state> state_{state::asked};

  // Written by the handler, before `state_`.
  std::size_t used_ = 0;
  note* open_ = nullptr;
  std::size_t left_out_ = 0;
  const char* doing_ = nullptr;
  std::uint64_t now_ = 0;
};

namespace {

using answers = std::vector<std::unique_ptr<dump_answer>>;

/// The answers asked for now; null: none. Handlers count themselves in before they load the
/// pointer, and the thread that asked clears the pointer before it looks at the count, so that no
/// handler uses answers that are gone: both sides store and then load, all seq_cst.
constinit std::atomic<const answers*> asked{nullptr};
constinit std::atomic<int> handlers{0};

void on_signal(int, siginfo_t*, void* ucontext) {
  const auto saved = errno;
  handlers.fetch_add(1, std::memory_order_seq_cst);
  const auto* self = executor::current();
  if (const auto* all = asked.load(std::memory_order_seq_cst); all != nullptr && self != nullptr)
    for (const auto& one : *all)
      if (&one->who() == self)
        one->give(ucontext);
  handlers.fetch_sub(1, std::memory_order_seq_cst);
  errno = saved;
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGURG, &action, nullptr) != 0)
    throw std::system_error(errno, std::generic_category(), "basal: SIGURG cannot have a handler");
}

void collect(const answers& all, std::chrono::milliseconds patience) {
  using clock = std::chrono::steady_clock;
  asked.store(&all, std::memory_order_seq_cst);
  const auto end = clock::now() + patience;
  for (;;) {
    bool done = true;
    for (const auto& one : all) {
      one->ask();
      done = done && (one->is_given() || one->who().thread() == 0);
    }
    if (done || clock::now() >= end)
      break;
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
  asked.store(nullptr, std::memory_order_seq_cst);
  while (handlers.load(std::memory_order_seq_cst) != 0)
    std::this_thread::yield();
}

// -- in words -------------------------------------------------------------------

std::string place(std::uintptr_t address) {
  Dl_info found{};
  std::array<char, 64> offset{};
  // A return address: the call is before it.
  if (dladdr(reinterpret_cast<const void*>(address - 1), &found) == 0
      || found.dli_fname == nullptr) {
    std::snprintf(offset.data(), offset.size(), "0x%zx", address);
    return offset.data();
  }
  std::snprintf(offset.data(), offset.size(), "0x%zx",
                address - 1 - reinterpret_cast<std::uintptr_t>(found.dli_fbase));
  const std::string where = std::string{found.dli_fname} + ' ' + offset.data();
  return found.dli_sname == nullptr ? where
                                    : basal::detail::demangled(found.dli_sname) + "  " + where;
}

std::string work_of(const note& n) {
  const std::string kind = n.work.data();
  const auto* type = n.work.data() + std::min(kind.size() + 1, most_letters);
  return *type == '\0' ? kind : kind + " (" + basal::detail::demangled(type) + ')';
}

std::string milliseconds(double ns) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.1f ms", ns / 1e6);
  return text.data();
}

/// Fibers that wait for the same in the same place.
struct group {
  std::map<std::string, std::size_t> executors; ///< how many on each
  std::size_t count = 0;
  double shortest_ns = 0;
  double longest_ns = 0;
};

using group_key = std::tuple<std::string, const char*, std::vector<std::uintptr_t>>;

class report_of {
public:
  explicit report_of(dump_part* more) : more_(more) {
  }

  std::string text(const answers& all) {
    for (const auto& one : all)
      add(*one);
    if (more_ != nullptr)
      text_ += more_->text();
    for (const auto& [key, g] : groups_)
      add(key, g);
    return std::move(text_);
  }

private:
  void add(const dump_answer& a) {
    const auto name = a.who().name();
    if (!a.is_asked() || a.who().thread() == 0) {
      text_ += name + ": has no thread yet, or none any more\n";
      return;
    }
    if (!a.is_given()) {
      text_
        += name + ": does not answer; it may be blocked in the kernel, or the machine is busy\n";
      return;
    }
    text_ += name + ": " + (a.doing() != nullptr ? "runs " : "looks for work, or sleeps\n");
    a.for_each([&](const note& n) {
      const auto* frames = n.first_frame();
      const auto* words = frames + n.frames;
      const auto ticks = a.now() > n.waits_since ? a.now() - n.waits_since : 0;
      const auto waited = tick_clock::to_duration(n.waits_for != nullptr ? ticks : 0);
      if (n.words != 0)
        more_->add({a.who(), n.waits_for, waited, {words, n.words}});
      if (n.waits_for == nullptr) {
        text_ += work_of(n) + '\n';
        add({frames, words});
        return;
      }
      const auto ns = static_cast<double>(waited.count());
      auto& g = groups_[{work_of(n), n.waits_for, {frames, words}}];
      ++g.executors[name];
      g.shortest_ns = g.count == 0 ? ns : std::min(g.shortest_ns, ns);
      g.longest_ns = std::max(g.longest_ns, ns);
      ++g.count;
    });
    if (a.left_out() > 0)
      text_ += "    and " + std::to_string(a.left_out()) + " suspended fibers more\n";
  }

  void add(const group_key& key, const group& g) {
    const auto& [work, waits_for, frames] = key;
    text_ += '\n' + std::to_string(g.count) + (g.count == 1 ? " fiber: " : " fibers: ") + work
             + ", waits for " + waits_for + ", for " + milliseconds(g.shortest_ns);
    if (g.count > 1)
      text_ += " to " + milliseconds(g.longest_ns);
    text_ += '\n';
    for (const auto& [name, count] : g.executors)
      text_ += "    " + std::to_string(count) + " on " + name + '\n';
    add(frames);
  }

  void add(const std::vector<std::uintptr_t>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      auto& known = places_[frames[i]];
      if (known.empty())
        known = place(frames[i]);
      text_ += "    #" + std::to_string(i) + "  " + known + '\n';
    }
  }

  dump_part* const more_;
  std::string text_;
  std::map<group_key, group> groups_;
  std::map<std::uintptr_t, std::string> places_;
};

} // namespace

std::string dump(std::span<executor_pool* const> pools, std::chrono::milliseconds patience,
                 dump_part* more) {
  static std::mutex one_at_a_time;
  const std::lock_guard guard{one_at_a_time};
  install_handler();
  answers all;
  for (auto* pool : pools)
    for (std::size_t i = 0; i < pool->size(); ++i)
      all.push_back(std::make_unique<dump_answer>(pool->at(i), more));
  collect(all, patience);
  return report_of{more}.text(all);
}

} // namespace basal::executors
