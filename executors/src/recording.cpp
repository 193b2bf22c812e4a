#include <basal/executors/detail/recording.hpp>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <pthread.h>
#include <span>
#include <string>
#include <sys/mman.h>
#include <typeinfo>
#include <unistd.h>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/recorder.hpp>

namespace basal::detail {

namespace {

constinit std::mutex making;

/// Written under the mutex before `made` is raised; release there, acquire in count().
constinit std::array<std::atomic<recording*>, recording::max_count> all{};
constinit std::atomic<std::size_t> made{0};

constinit std::atomic<bool> in_use{true};

/// Bytes before the slots, in whole cache lines.
constexpr std::size_t head_bytes = (sizeof(recording) + 63) / 64 * 64;

/// The recording of a thread which is no executor.
class own_recording {
public:
  recording* get() noexcept {
    if (!asked_) {
      asked_ = true;
      std::array<char, recording::max_name> name{};
      pthread_getname_np(pthread_self(), name.data(), name.size());
      if ((mine_ = recording::acquire(name.data(), executors::recorder::thread_bytes)) != nullptr)
        mine_->set_thread(gettid());
    }
    return mine_;
  }

  ~own_recording() {
    recording::release(mine_);
    mine_ = nullptr; // destructors of other thread-locals may record nothing
  }

private:
  recording* mine_ = nullptr;
  bool asked_ = false;
};

[[gnu::noinline]] recording* of_plain_thread() noexcept {
  thread_local own_recording mine;
  return mine.get();
}

} // namespace

// To ask an actor for its next message takes some 260 instructions (callgrind, in a debug build):
// once in 20 us a ping-pong took 1.019 of its time without the recorder, once in 50 us 1.014
// (medians of three runs and six of `bench_executors --filter recorder_overhead`).
constinit const std::chrono::nanoseconds recording::ask_after{50'000};

recording::recording(std::span<record_ring::slot> slots) noexcept
  : ring_(slots), ask_after_(executors::tick_clock::to_ticks(ask_after)) {
}

recording* recording::acquire(std::string_view name, std::size_t bytes) noexcept {
  if (!in_use.load(std::memory_order_relaxed))
    return nullptr;
  const auto slots = bytes / sizeof(record_ring::slot);
  std::lock_guard guard{making};
  const auto known = made.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < known; ++i) {
    auto* r = all[i].load(std::memory_order_relaxed);
    if (!r->taken_ && r->ring_.capacity() == slots) {
      r->taken_ = true;
      r->belong_to(name);
      return r;
    }
  }
  if (known == max_count)
    return nullptr;
  void* memory = mmap(nullptr, head_bytes + slots * sizeof(record_ring::slot),
                      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  // Zeroes are what the slots' constructors would write, to all of the pages.
  auto* first = reinterpret_cast<record_ring::slot*>(static_cast<std::byte*>(memory) + head_bytes);
  auto* r = new (memory) recording{std::span{first, slots}};
  r->belong_to(name);
  all[known].store(r, std::memory_order_relaxed);
  made.store(known + 1, std::memory_order_release);
  return r;
}

void recording::release(recording* of) noexcept {
  if (of == nullptr)
    return;
  std::lock_guard guard{making};
  BASAL_ASSERT(of->taken_, "a thread gives its recording back once");
  of->taken_ = false;
}

recording* recording::of_this_thread() noexcept {
  auto* self = executors::executor::current();
  return self != nullptr ? self->flight() : of_plain_thread();
}

std::size_t recording::count() noexcept {
  return made.load(std::memory_order_acquire);
}

const recording& recording::at(std::size_t index) noexcept {
  BASAL_ASSERT(index < count(), "a recording's index is below count()");
  return *all[index].load(std::memory_order_relaxed);
}

void recording::belong_to(std::string_view name) noexcept {
  for (std::size_t i = 0; i < max_name; ++i)
    name_[i].store(i < name.size() && i + 1 < max_name ? name[i] : '\0', std::memory_order_relaxed);
  begun_at_ = 0;
  begun_ = nullptr;
  // Release: a reader that sees it sees the name.
  first_.store(ring_.written(), std::memory_order_release);
}

std::array<char, recording::max_name> recording::name() const noexcept {
  std::array<char, max_name> result{};
  std::transform(name_.begin(), name_.end(), result.begin(),
                 [](const auto& c) { return c.load(std::memory_order_relaxed); });
  return result;
}

std::uint16_t recording::name_kind(executors::work_item item, const void* kind) noexcept {
  std::uint16_t number = 0;
  if (item.ops->type_of == nullptr) {
    number = record_names::number_of(item.ops->kind);
  } else {
    std::array<char, record_names::max_length> text{'@'};
    const std::string_view mangled = item.ops->type_of(item.object).name();
    const auto length = mangled.copy(text.data() + 1, text.size() - 1);
    number = record_names::number_of({text.data(), length + 1});
  }
  names_.keep(kind, number);
  return number;
}

std::uint16_t recording::name_of(const executors::work_item& item) noexcept {
  if (!item)
    return 0;
  const void* kind = item.ops->type_of == nullptr ? static_cast<const void*>(item.ops)
                                                  : *static_cast<const void* const*>(item.object);
  const auto number = names_.find(kind);
  return number != 0 ? number : name_kind(item, kind);
}

std::uint16_t recording::name_of(const char* text) noexcept {
  if (text == nullptr)
    return 0;
  if (const auto number = names_.find(text);
      number != 0 && record_names::text(number) == std::string_view{text})
    return number;
  return keep_name(text, text);
}

std::uint16_t recording::keep_name(const void* key, std::string_view text) noexcept {
  const auto number = record_names::number_of(text);
  names_.keep(key, number);
  return number;
}

} // namespace basal::detail

namespace basal::executors {

void recorder::use(bool on) noexcept {
  detail::in_use.store(on, std::memory_order_relaxed);
}

void recorder::add(record_kind kind, const void* subject, const char* name) noexcept {
  if (auto* r = detail::recording::of_this_thread())
    r->add(kind, tick_clock::now(), subject, r->name_of(name));
}

} // namespace basal::executors
