#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

namespace basal::posse::detail {

/// The members that do the elements of a range together, each of which claims some before it does
/// them: at which element all ends early, and what failed first.
///
/// Protocol: `end_` is only lowered, by a member that ends there or fails: beyond it nothing is
/// claimed. It is a hint to others until they merge, which publishes the rest. `first_`, of all who
/// have a claim or may get one, and `failure_` are written and read with `mutex_`, once for each
/// claimer and at an end.
class claimers {
public:
  /// One for each member that takes part.
  class claimer {
  public:
    explicit claimer(claimers& all) noexcept : all_(all) {
    }

    claimer(const claimer&) = delete;
    claimer& operator=(const claimer&) = delete;

    /// The elements that it has claimed: [first, last).
    std::size_t first = 0;
    std::size_t last = 0;

    /// It does no element before this one from now on.
    void begin_at(std::size_t element) noexcept {
      doing_.store(element, std::memory_order_relaxed);
    }

    /// It claims no more.
    void stop() noexcept {
      doing_.store(none, std::memory_order_relaxed);
    }

    /// Once, with the mutex or before anybody else is there: others may see it from now on.
    void join() noexcept {
      next_ = std::exchange(all_.first_, this);
    }

    /// With the mutex: before it is destroyed, if that is before all others are.
    void leave() noexcept {
      auto** c = &all_.first_;
      while (*c != this)
        c = &(*c)->next_;
      *c = next_;
    }

  protected:
    ~claimer() = default;

    claimers& all_;

  private:
    friend class claimers;

    static constexpr auto none = std::numeric_limits<std::size_t>::max();

    claimer* next_ = nullptr;
    std::atomic<std::size_t> doing_{0}; ///< it does no element before this
  };

  claimers() = default;
  claimers(const claimers&) = delete;
  claimers& operator=(const claimers&) = delete;

  /// Elements from there on are not wanted.
  std::size_t limit() const noexcept {
    return end_.load(std::memory_order_relaxed);
  }

  void end_at(std::size_t element) noexcept {
    auto end = end_.load(std::memory_order_relaxed);
    while (element < end
           && !end_.compare_exchange_weak(end, element, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }

  /// Ends at an element that threw `why`.
  void fail(std::size_t at, std::exception_ptr why) {
    std::lock_guard lock{mutex_};
    if (failure_ == nullptr || at < failed_at_) {
      failed_at_ = at;
      failure_.swap(why); // what is dropped goes without the lock
    }
    end_at(at);
  }

  /// Once all have merged.
  /// @throws what the element has thrown at which all ended
  void rethrow_failure() {
    if (failure_ && failed_at_ == limit())
      std::rethrow_exception(std::move(failure_));
  }

  /// Whether all elements before the end are done. Those that are not belong to a claimer that is
  /// listed, and its `doing_` is not beyond them: it has claimed before the one that ended there,
  /// whence acquire, or elements change hands with the mutex only.
  bool are_all_behind() {
    const auto end = end_.load(std::memory_order_acquire);
    std::lock_guard lock{mutex_};
    for (const auto* c = first_; c != nullptr; c = c->next_)
      if (c->doing_.load(std::memory_order_relaxed) < end)
        return false;
    return true;
  }

protected:
  ~claimers() = default;

  /// Before anybody joins.
  void begin_with(std::size_t limit) noexcept {
    end_.store(limit, std::memory_order_relaxed);
  }

  /// With the mutex: calls `f` for each claimer until it returns false.
  template <class F>
  void for_each_claimer(F f) {
    for (auto* c = first_; c != nullptr && f(*c); c = c->next_) {
    }
  }

  std::mutex mutex_;

private:
  claimer* first_ = nullptr;
  std::size_t failed_at_ = 0;
  std::exception_ptr failure_;

  /// Read at each step, and so in another line; with those members of a derived class that do not
  /// change either.
  alignas(64) std::atomic<std::size_t> end_{0};
};

} // namespace basal::posse::detail
