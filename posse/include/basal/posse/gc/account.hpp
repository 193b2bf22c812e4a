#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <new>

#include <basal/posse/detail/charge_frame.hpp>

namespace basal::posse::gc {

namespace detail {

struct loans;

} // namespace detail

/// An account's limit was reached.
class limit_exceeded : public std::bad_alloc {
public:
  /// A sentence that names the remedy. Does not allocate.
  const char* what() const noexcept override;
};

/// The bytes that a computation, or a part of it, has taken from the heap. Work in a charge_scope
/// for it charges it, on any thread; anybody may read it. Must outlive the scopes, and all work
/// that was begun in them.
///
/// The collector knows which objects are alive, but not for whom. So `bytes` counts allocated
/// bytes, and when it reaches the limit a collection shows how much can still be alive at most;
/// only if that is too much the limit is exceeded. While work runs, its bytes are exact to the 4
/// KiB in which threads are charged; at the end of a scope, and of branches stolen from it,
/// exactly.
class account {
public:
  /// The limit of an account that has none.
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// An account of 0 bytes.
  /// @param limit_bytes the most that charge() lets pass
  explicit account(std::size_t limit_bytes = unlimited) noexcept : limit_(limit_bytes) {
  }

  account(const account&) = delete;
  account& operator=(const account&) = delete;

  /// Ends the program with a sentence while a future or a background task that
  /// was begun in a charge_scope for this account has yet to end.
  virtual ~account();

  /// @throws the exception of over_limit()
  void charge(std::size_t bytes) {
    add(bytes);
    if (this->bytes() > limit_) [[unlikely]]
      over_limit();
  }

  /// Counts without a look at the limit.
  void add(std::size_t bytes) noexcept {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

  /// Allocated since the account was made, less what a collection has found dead.
  std::size_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }

  /// In bytes. Constant.
  std::size_t limit() const noexcept {
    return limit_;
  }

protected:
  /// Called beyond the limit, on the thread that has gone beyond it; other threads may do so at the
  /// same time. By default: recount(), and if that leaves less than a sixteenth of the limit free
  /// (or it would soon collect again and again)
  /// @throws limit_exceeded
  virtual void over_limit();

  /// Collects, and lowers `bytes` to what the whole heap holds if that is less.
  void recount();

private:
  const std::size_t limit_;

  /// Relaxed: a number by itself.
  std::atomic<std::size_t> bytes_{0};

  friend struct detail::loans;

  /// Pieces of detached work that will charge it. Release to end, with the
  /// destructor's acquire: what they charged comes before.
  std::atomic<std::size_t> loans_{0};
};

/// While it lives, what this thread allocates, or on an executor the running
/// fiber, is charged to an account: the fiber keeps it while it is suspended and
/// others run. Branches that are forked within it inherit it, and so does what is
/// called or begun within it: computations, offloads, one-shots, background tasks,
/// wherever and whenever they run. Scopes nest: the innermost one pays. Only for
/// local variables.
class charge_scope {
public:
  /// From now on what this fiber or thread takes from the heap is charged to `a`, until the scope
  /// ends.
  explicit charge_scope(account& a);
  ~charge_scope();

  charge_scope(const charge_scope&) = delete;
  charge_scope& operator=(const charge_scope&) = delete;

  static void* operator new(std::size_t) = delete;

private:
  posse::detail::charge_frame frame_;
};

} // namespace basal::posse::gc
