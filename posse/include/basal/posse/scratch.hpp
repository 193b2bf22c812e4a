#pragma once

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/executors/executor.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse {

/// Values that are expensive to make and that bodies use one after the other:
/// buffers, tables, random engines. One is made for each executor that borrows,
/// and reused there:
///
///     posse::scratch buffers{[n] { return std::vector<double>(n); }};
///     posse::for_each(m, rows, [&](posse::member& k, row& r) {
///       auto buffer = buffers.borrow(k);
///       solve(r, *buffer);
///     });
///
/// Never two running bodies have the same value. A body that forks while it
/// borrows may be suspended, and others run on its executor in the meantime;
/// for these another value is made, and kept as well. So there are as many
/// values as were borrowed at the same time, executor by executor.
///
/// A value is as its last borrower left it, whoever that was: a pure function
/// must not let its result depend on that.
///
/// borrow() may be called on all executors at the same time; the destructor when
/// nothing is borrowed.
template <class Make>
class scratch {
public:
  static_assert(std::is_invocable_v<const Make&>,
                "scratch takes a function without arguments that makes a value: "
                "scratch buffers{[] { return std::vector<double>(1000); }}");

  using value_type = std::decay_t<std::invoke_result_t<const Make&>>; ///< made by `make`

  /// @param make called when no value is free, on any executor, on several at
  ///             the same time
  explicit scratch(Make make) : make_(std::move(make)) {
  }

  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  ~scratch() {
    for (auto* s = shelves_.load(std::memory_order_acquire); s != nullptr;) {
      const std::unique_ptr<shelf> gone{s};
      s = gone->next;
      while (gone->free != nullptr) {
        const std::unique_ptr<item> value{gone->free};
        gone->free = value->next;
      }
    }
  }

private:
  struct item : executors::visible_to_collector {
    explicit item(const Make& make) : value(make()) {
    }

    value_type value;
    item* next = nullptr;
  };

  /// The free values of one executor. Its thread alone reads and writes `free`.
  struct shelf : executors::visible_to_collector {
    explicit shelf(const executors::executor& executor) : where(&executor) {
    }

    const executors::executor* where;
    item* free = nullptr;
    shelf* next = nullptr;
  };

public:
  /// A value for the time being. Must end on the executor where it began, as
  /// what a body has on its stack does.
  class lease {
  public:
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;

    ~lease() {
      BASAL_ASSERT(executors::executor::current() == shelf_.where,
                   "a lease ends on the executor where it began");
      item_->next = shelf_.free;
      shelf_.free = item_.release();
    }

    /// The borrowed value, until this goes.
    /// @{
    value_type& operator*() const noexcept {
      return item_->value;
    }

    value_type* operator->() const noexcept {
      return &item_->value;
    }
    /// @}

  private:
    friend class scratch;

    lease(shelf& from, std::unique_ptr<item> borrowed) noexcept
      : shelf_(from), item_(std::move(borrowed)) {
    }

    shelf& shelf_;
    std::unique_ptr<item> item_;
  };

  /// A value that nobody else has, until the lease ends. Costs a comparison
  /// for each executor that has borrowed, and no lock, unless one must be made.
  /// @throws any exception of `make`, std::bad_alloc
  [[nodiscard]] lease borrow(member& m) {
    BASAL_ASSERT(executors::executor::current() == &m.executor(),
                 "a body borrows with the member that it was called with");
    auto& mine = shelf_of(m.executor());
    if (mine.free == nullptr)
      return {mine, std::make_unique<item>(make_)};
    std::unique_ptr<item> value{mine.free};
    mine.free = value->next;
    return {mine, std::move(value)};
  }

private:
  shelf& shelf_of(const executors::executor& self) {
    auto* first = shelves_.load(std::memory_order_acquire);
    for (auto* s = first; s != nullptr; s = s->next)
      if (s->where == &self)
        return *s;
    // Only this thread adds one for this executor.
    auto added = std::make_unique<shelf>(self);
    do {
      added->next = first;
    } while (!shelves_.compare_exchange_weak(first, added.get(), std::memory_order_release,
                                             std::memory_order_acquire));
    return *added.release();
  }

  const Make make_;

  /// Grows at its head, by any executor; shelves stay until the end. The release
  /// in shelf_of() makes `where` and `next` visible to the acquire loads.
  std::atomic<shelf*> shelves_{nullptr};
};

} // namespace basal::posse
