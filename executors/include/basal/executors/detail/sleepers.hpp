#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/idle_set.hpp>
#include <basal/executors/detail/inbox.hpp>
#include <basal/executors/detail/parker.hpp>

namespace basal::executors {

/// How the executors of a pool go to sleep and how they are woken: an idle set, and for each
/// executor a parker to sleep in. Any thread unless it says otherwise; lock-free except for sleep()
/// and the system call that wakes a sleeper; allocates in the constructor only.
///
/// An executor that found nothing calls prepare_sleep(), which puts it into the
/// idle set and then looks at every source of work once more, and sleeps
/// without a time-out. Whoever adds work first makes it visible (a seq_cst
/// store) and then calls notify() or wake(), which look at the idle set. So
/// work that waits implies somebody awake or woken: see basic_idle_set.
///
/// While an executor searches, producers wake nobody. In return the last one to
/// end its search looks whether work is left and wakes another. One that was woken from the kernel
/// to search is coming until it is awake. Producers wake nobody else from the kernel meanwhile, but
/// one that is awake, which can do all that waits before the other one has come. An executor can
/// still count as searching when it enters the idle set and be woken for
/// something else before it looks again; hence everybody who comes out of the
/// idle set, by whatever way, counts as searching and owes that look.
///
/// Birth. Executors may begin in the idle set without a thread. Whoever takes such a one
/// out makes the thread before it hands over the token; nobody else can, since a bit is
/// cleared once. The thread calls sleep() first. Where no thread is to be had, the
/// executor is never in the set again, and the claim goes on to another; so nothing is
/// addressed to an executor without a thread. Whoever was refused a searcher gives it
/// up and looks at the set again, because producers that saw it coming woke nobody.
/// A pool that stops takes out those without a thread, so that none is made later; it
/// needs one executor that has a thread from the start, which sees all that is left.
///
/// The parts are template parameters so that tests can run the same code under
/// a controlled scheduler, and with errors put into them.
template <class IdleSet = idle_set, class Parker = parker>
class basic_sleepers {
public:
  /// Makes the thread of executor `index`. On the thread of whoever claims it first.
  /// `make` returns false if there is none to be had.
  struct thread_maker {
    void* context = nullptr;
    bool (*make)(void* context, std::size_t index) noexcept = nullptr;
  };

  /// Looks after executor `index`, which sleeps in the kernel and is about to be woken. On the
  /// waking thread, which alone may touch the executor until then.
  struct waker {
    void* context = nullptr;
    void (*before_wake)(void* context, std::size_t index) noexcept = nullptr;
  };

  /// Before anybody sleeps.
  void set_waker(waker w) noexcept {
    waker_ = w;
  }

  /// All of them are awake.
  explicit basic_sleepers(std::size_t executors)
    : size_(executors), idle_(executors), beds_(std::make_unique<bed[]>(executors)) {
  }

  /// None has a thread; `births` makes one for each that is claimed.
  basic_sleepers(std::size_t executors, thread_maker births) : basic_sleepers(executors) {
    BASAL_ASSERT(births.make != nullptr, "somebody makes the threads");
    births_ = births;
    for (std::size_t i = 0; i < executors; ++i) {
      beds_[i].sleeper.await_birth();
      idle_.enter(i);
    }
  }

  /// Before anybody else knows of this: makes the thread of executor `index`, which stays in the
  /// idle set. `make()` may throw.
  template <class Make>
  void begin(std::size_t index, Make make) {
    auto& sleeper = beds_[index].sleeper;
    sleeper.be_born();
    try {
      make();
    } catch (...) {
      sleeper.await_birth();
      throw;
    }
  }

  // -- the executor's side, on its own thread ---------------------------------

  /// Registers the caller as searching, unless enough others do.
  bool start_searching() noexcept {
    return idle_.start_searching();
  }

  /// Ends the caller's search. The last searcher wakes another executor if
  /// `work_left()`, because producers that saw a searcher woke nobody.
  template <class WorkLeft>
  void stop_searching(WorkLeft work_left) noexcept {
    if (idle_.stop_searching() && work_left())
      notify();
  }

  /// Puts executor `index` into the idle set and ends its search if it was
  /// `searching`. `stay_awake()` then looks at every source of work again, in
  /// seq_cst.
  /// @returns whether the caller must call sleep() now. Otherwise it goes on and
  ///          counts as searching.
  template <class StayAwake>
  [[nodiscard]] bool prepare_sleep(std::size_t index, bool searching,
                                   StayAwake stay_awake) noexcept {
    idle_.enter(index);
    if (searching)
      idle_.stop_searching(); // the look below is what the last searcher owes
    // If another thread has claimed the executor already, a token is on its way, which the executor
    // must take.
    if (!stay_awake() || !idle_.leave(index))
      return true;
    idle_.resume_searching();
    return false;
  }

  /// Sleeps until somebody wakes executor `index`; see parker::park. Afterwards
  /// the caller counts as searching.
  /// @returns whether it slept in the kernel
  bool sleep(std::size_t index) noexcept {
    bool slept = false;
    const auto token = beds_[index].sleeper.park(&slept);
    if (token == look_token)
      idle_.resume_searching();
    else if (token == come_token)
      idle_.arrive();
    return slept;
  }

  /// Where is put what executor `index` alone may take, before wake() or wake_claimed(): in the
  /// cache line of its token, so that both come at once.
  inbox& mail(std::size_t index) noexcept {
    return beds_[index].mail;
  }

  /// Whether sleep() would return at once. Owner only.
  bool is_woken(std::size_t index) const noexcept {
    return beds_[index].sleeper.has_token();
  }

  // -- the producer's side ----------------------------------------------------

  /// After making work visible that any executor may take: wakes one, unless
  /// somebody is searching already. Rather one that is looking than one that sleeps
  /// in the kernel, which is woken unless somebody is coming already.
  void notify() noexcept {
    while (auto claimed = idle_.claim_searcher([this](std::size_t i) { return looks_in_bed(i); })) {
      if (has_thread(claimed->index)) {
        unpark(claimed->index, claimed->comes ? come_token : search_token);
        return;
      }
      idle_.give_up(*claimed); // the next round is the look that this owes
    }
  }

  /// After making something visible that is meant for executor `index`, which has a thread: wakes
  /// it if it sleeps.
  void wake(std::size_t index) noexcept {
    if (idle_.claim(index))
      wake_claimed(index);
  }

  /// For a pool that stops: wakes executor `index` if it sleeps.
  /// @returns whether it has no thread instead, and never will
  bool dismiss(std::size_t index) noexcept {
    if (!idle_.claim(index))
      return false;
    if (beds_[index].sleeper.is_unborn())
      return true;
    wake_claimed(index);
    return false;
  }

  /// Takes a sleeping executor for the caller, who owes it a wake_claimed().
  std::optional<std::size_t> claim() noexcept {
    for (;;) {
      auto index = idle_.claim_any([this](std::size_t i) { return looks_in_bed(i); });
      if (!index || has_thread(*index))
        return index;
    }
  }

  /// The same with executor `index`, if it sleeps.
  bool claim(std::size_t index) noexcept {
    return idle_.claim(index) && has_thread(index);
  }

  void wake_claimed(std::size_t index) noexcept {
    unpark(index, look_token);
  }

  // -- observers: snapshots ---------------------------------------------------

  bool any_parked() const noexcept {
    return idle_.any_parked();
  }

  bool is_parked(std::size_t index) const noexcept {
    return idle_.is_parked(index);
  }

  /// Whether executor `index` is in the idle set and still awake: it looks for a token, and takes
  /// one within a microsecond.
  bool is_looking(std::size_t index) const noexcept {
    return idle_.is_parked(index) && looks_in_bed(index);
  }

  bool any_looking() const noexcept {
    if (!idle_.any_parked())
      return false;
    for (std::size_t i = 0; i < size_; ++i)
      if (is_looking(i))
        return true;
    return false;
  }

  /// The next executor behind `index`, round about, that is not in the set; `index` if none is.
  std::size_t next_awake(std::size_t index) const noexcept {
    return idle_.next_awake(index);
  }

  std::size_t num_parked() const noexcept {
    return idle_.num_parked();
  }

  /// How many have a thread and are not in the idle set.
  std::size_t num_awake() const noexcept {
    // In this order: else one that is refused in between would count twice.
    const auto refused = refused_.load(std::memory_order_seq_cst);
    return size_ - refused - idle_.num_parked();
  }

  std::size_t num_searching() const noexcept {
    return idle_.num_searching();
  }

  bool any_searcher() const noexcept {
    return idle_.any_searcher();
  }

  std::size_t num_coming() const noexcept {
    return idle_.num_coming();
  }

  /// Whether notify() would wake somebody.
  bool would_wake() const noexcept {
    return idle_.num_searching() == 0 && idle_.any_parked()
           && (idle_.num_coming() == 0 || any_looking());
  }

private:
  /// Woken for something that was added for it alone, or because the pool stops.
  static constexpr auto look_token = Parker::first_token;

  /// Woken for work that anybody may take; counts as searching already.
  static constexpr auto search_token = Parker::first_token + 1;

  /// Woken for that from a sleep in the kernel; counts as coming.
  static constexpr auto come_token = Parker::first_token + 2;

  /// Whether executor `index`, which the caller has claimed, has a thread or gets one now.
  bool has_thread(std::size_t index) noexcept {
    auto& sleeper = beds_[index].sleeper;
    if (!sleeper.is_unborn()) [[likely]]
      return true;
    sleeper.be_born();
    if (births_.make(births_.context, index))
      return true;
    refused_.fetch_add(1, std::memory_order_seq_cst);
    return false;
  }

  void unpark(std::size_t index, typename Parker::token token) noexcept {
    auto& sleeper = beds_[index].sleeper;
    if (waker_.before_wake != nullptr && sleeper.is_asleep())
      waker_.before_wake(waker_.context, index);
    sleeper.unpark(token);
  }

  bool looks_in_bed(std::size_t index) const noexcept {
    return !beds_[index].sleeper.is_in_kernel();
  }

  /// One cache line each: a sleeper that still spins reads it all the time.
  struct alignas(64) bed {
    Parker sleeper;
    inbox mail;
  };

  const std::size_t size_;
  thread_maker births_;
  waker waker_;

  /// Executors that got no thread. Written by who claimed them; read by observers, among them the
  /// backstop, whose look at the idle set it is part of.
  std::atomic<std::size_t> refused_{0};

  IdleSet idle_;
  std::unique_ptr<bed[]> beds_;
};

using sleepers = basic_sleepers<>;

} // namespace basal::executors
