#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

#include "support/interleave/run.hpp"

namespace basal::interleave {

constexpr bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel
         || order == std::memory_order_seq_cst;
}

constexpr bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel
         || order == std::memory_order_seq_cst;
}

/// Stands in for std::atomic<T>: same members, each of which is a scheduling
/// point of the current run. See run for what it models. Lives inside a run.
template <class T>
class atomic {
public:
  atomic() noexcept : atomic(T{}) {
  }

  atomic(T value) noexcept : id_(run::current()->new_atomic()) {
    history_[0].value = value;
  }

  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    auto& r = *run::current();
    r.point();
    if (r.observing())
      return newest().value;
    auto& self = r.knowledge();
    auto oldest = std::max(self.oldest[id_], newest_ < depth ? 0 : newest_ - depth + 1);
    if (order == std::memory_order_seq_cst)
      oldest = std::max(oldest, newest_seq_cst_);
    auto age = oldest < newest_ ? r.choose(choice::anomaly, newest_ - oldest + 1) : 0;
    const auto& read = at(newest_ - age);
    self.oldest[id_] = newest_ - age;
    if (acquires(order))
      self.join(read.released);
    if (r.traced())
      r.note(label() + " is " + shown(read.value) + (age != 0 ? " (an old value)" : ""));
    return read.value;
  }

  void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    auto& r = *run::current();
    r.point();
    append(r, value, order, view{});
  }

  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(order, [&](T) { return value; });
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    return compare_exchange(expected, desired, success, failure, false);
  }

  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    return compare_exchange(expected, desired, success, failure, true);
  }

  T fetch_add(T n, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(order, [&](T before) { return static_cast<T>(before + n); });
  }

  T fetch_sub(T n, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(order, [&](T before) { return static_cast<T>(before - n); });
  }

  T fetch_or(T bits, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(order, [&](T before) { return static_cast<T>(before | bits); });
  }

  T fetch_and(T bits, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(order, [&](T before) { return static_cast<T>(before & bits); });
  }

  // -- as basal::executors::futex_word ----------------------------------------

  /// A futex call, the kernel's lock included: sleeps if the newest value is `value`, until woken
  /// or, rarely, for no reason.
  void futex_wait(T value) noexcept {
    auto& r = *run::current();
    r.point();
    if (newest().value == value && r.choose(choice::anomaly, 2) == 0)
      r.block(this);
  }

  static void futex_wake_one(atomic* word) noexcept {
    auto& r = *run::current();
    r.point();
    if (r.traced())
      r.note("wakes who sleeps on " + word->label());
    r.wake(word);
  }

private:
  /// A store, with what it published.
  struct record {
    T value{};
    view released;
  };

  static constexpr std::uint32_t depth = 4;

  record& at(std::uint32_t position) const noexcept {
    return history_[position % depth];
  }

  record& newest() const noexcept {
    return at(newest_);
  }

  /// `inherited`: what the stores that this one continues as a release
  /// sequence have published.
  void append(run& r, T value, std::memory_order order, const view& inherited) noexcept {
    if (r.traced())
      r.note(label() + " = " + shown(value));
    auto& self = r.knowledge();
    self.oldest[id_] = ++newest_;
    if (order == std::memory_order_seq_cst)
      newest_seq_cst_ = newest_;
    auto& written = newest();
    written.value = value;
    written.released = inherited;
    if (releases(order)) {
      written.released.join(self);
      r.tick();
    }
  }

  template <class F>
  T modify(std::memory_order order, F change) noexcept {
    auto& r = *run::current();
    r.point();
    auto before = newest(); // a copy: append may overwrite it
    if (acquires(order))
      r.knowledge().join(before.released);
    append(r, change(before.value), order, before.released);
    return before.value;
  }

  bool compare_exchange(T& expected, T desired, std::memory_order success,
                        std::memory_order failure, bool weak) noexcept {
    auto& r = *run::current();
    r.point();
    auto before = newest();
    auto same = before.value == expected;
    if (same && (r.observing() || !weak || r.choose(choice::anomaly, 2) == 0)) {
      if (acquires(success))
        r.knowledge().join(before.released);
      append(r, desired, success, before.released);
      return true;
    }
    if (r.traced())
      r.note(label() + " is " + shown(before.value) + ", not changed");
    auto& self = r.knowledge();
    self.oldest[id_] = newest_;
    if (acquires(failure))
      self.join(before.released);
    expected = before.value;
    return false;
  }

  /// Atomics are numbered in the order of their construction.
  std::string label() const {
    return "atomic " + std::to_string(id_);
  }

  static std::string shown(T value) {
    if constexpr (std::is_pointer_v<T>) {
      return value == nullptr ? "null" : "a pointer";
    } else if constexpr (std::is_floating_point_v<T>) {
      return std::to_string(value);
    } else {
      auto number = static_cast<std::uint64_t>(value);
      constexpr std::uint64_t large = 1u << 16;
      return number < large ? std::to_string(number)
                            : std::to_string(number >> 32) + "|" + std::to_string(number & ~0u);
    }
  }

  const std::uint32_t id_;
  std::uint32_t newest_ = 0; ///< position of the last store
  std::uint32_t newest_seq_cst_ = 0;
  mutable std::array<record, depth> history_;
};

/// A variable that is no atomic. Two accesses of different threads, one of them
/// a write, without a happens-before between them fail the run.
template <class T>
class plain {
public:
  plain() = default;
  plain(const T& value) : value_(value) {
  }
  plain(const plain& other) : value_(other.read()) {
  }

  plain& operator=(const plain& other) {
    write(other.read());
    return *this;
  }

  operator T() const {
    return read();
  }

  T read() const {
    auto* r = run::current();
    if (r != nullptr && !r->observing()) {
      auto& known = r->knowledge();
      auto self = r->thread_number();
      if (known.clock[writer_] < written_)
        r->fail("data race: reads what another thread is writing");
      reads_[self] = known.clock[self];
    }
    return value_;
  }

  void write(const T& value) {
    auto* r = run::current();
    if (r != nullptr && !r->observing()) {
      auto& known = r->knowledge();
      auto self = r->thread_number();
      if (known.clock[writer_] < written_)
        r->fail("data race: writes what another thread is writing");
      for (std::size_t i = 0; i < reads_.size(); ++i)
        if (i != self && known.clock[i] < reads_[i])
          r->fail("data race: writes what another thread is reading");
      writer_ = self;
      written_ = known.clock[self];
    }
    value_ = value;
  }

private:
  T value_{};
  std::size_t writer_ = 0;                                 ///< thread of the last write,
  std::uint32_t written_ = 0;                              ///< and its clock then
  mutable std::array<std::uint32_t, max_threads> reads_{}; ///< clocks of the last reads
};

/// Stands in for std::mutex.
class mutex {
public:
  void lock() noexcept {
    auto& r = *run::current();
    while (locked_.exchange(1, std::memory_order_acquire) != 0)
      r.block(this);
  }

  void unlock() noexcept {
    locked_.store(0, std::memory_order_release);
    run::current()->wake(this);
  }

private:
  atomic<int> locked_{0};
};

} // namespace basal::interleave
