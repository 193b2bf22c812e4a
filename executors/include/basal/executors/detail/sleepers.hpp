#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <basal/executors/detail/idle_set.hpp>
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
/// end its search looks whether work is left and wakes another. An executor can
/// still count as searching when it enters the idle set and be woken for
/// something else before it looks again; hence everybody who comes out of the
/// idle set, by whatever way, counts as searching and owes that look.
///
/// The parts are template parameters so that tests can run the same code under
/// a controlled scheduler, and with errors put into them.
template <class IdleSet = idle_set, class Parker = parker>
class basic_sleepers {
public:
  explicit basic_sleepers(std::size_t executors)
    : size_(executors), idle_(executors), beds_(std::make_unique<bed[]>(executors)) {
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
    if (beds_[index].sleeper.park(&slept) == look_token)
      idle_.resume_searching();
    return slept;
  }

  /// Whether sleep() would return at once. Owner only.
  bool is_woken(std::size_t index) const noexcept {
    return beds_[index].sleeper.has_token();
  }

  // -- the producer's side ----------------------------------------------------

  /// After making work visible that any executor may take: wakes one, unless
  /// somebody is searching already. Rather one that is looking than one that sleeps
  /// in the kernel.
  void notify() noexcept {
    if (auto index = idle_.claim_searcher([this](std::size_t i) { return looks_in_bed(i); }))
      beds_[*index].sleeper.unpark(search_token);
  }

  /// After making something visible that is meant for executor `index`: wakes
  /// it if it sleeps.
  void wake(std::size_t index) noexcept {
    if (idle_.claim(index))
      wake_claimed(index);
  }

  /// After making something visible that concerns everybody.
  void wake_all() noexcept {
    for (std::size_t i = 0; i < size_; ++i)
      wake(i);
  }

  /// Takes a sleeping executor for the caller, who owes it a wake_claimed().
  std::optional<std::size_t> claim() noexcept {
    return idle_.claim_any([this](std::size_t i) { return looks_in_bed(i); });
  }

  /// The same with executor `index`, if it sleeps.
  bool claim(std::size_t index) noexcept {
    return idle_.claim(index);
  }

  void wake_claimed(std::size_t index) noexcept {
    beds_[index].sleeper.unpark(look_token);
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

  std::size_t num_parked() const noexcept {
    return idle_.num_parked();
  }

  std::size_t num_searching() const noexcept {
    return idle_.num_searching();
  }

private:
  /// Woken for something that was added for it alone, or because the pool stops.
  static constexpr auto look_token = Parker::first_token;

  /// Woken for work that anybody may take; counts as searching already.
  static constexpr auto search_token = Parker::first_token + 1;

  bool looks_in_bed(std::size_t index) const noexcept {
    return !beds_[index].sleeper.is_in_kernel();
  }

  /// One cache line each: a sleeper that still spins reads it all the time.
  struct alignas(64) bed {
    Parker sleeper;
  };

  const std::size_t size_;
  IdleSet idle_;
  std::unique_ptr<bed[]> beds_;
};

using sleepers = basic_sleepers<>;

} // namespace basal::executors
