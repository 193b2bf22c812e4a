#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/executors/executor.hpp>
#include <basal/posse/detail/per_executor.hpp>
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
    shelves_.for_each([](item* free) {
      while (free != nullptr) {
        const std::unique_ptr<item> value{free};
        free = value->next;
      }
    });
  }

private:
  /// In lines of its own: it is written at each loan.
  struct alignas(64) item : executors::visible_to_collector {
    explicit item(const Make& make) : value(make()) {
    }

    value_type value;
    item* next = nullptr;
  };

  /// The free values of one executor.
  using shelf = detail::per_executor<item*>::place;

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
      item_->next = shelf_.value;
      shelf_.value = item_.release();
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
    auto& mine = shelves_.at(m.executor());
    if (mine.value == nullptr)
      return {mine, std::make_unique<item>(make_)};
    std::unique_ptr<item> value{mine.value};
    mine.value = value->next;
    return {mine, std::move(value)};
  }

private:
  const Make make_;

  detail::per_executor<item*> shelves_;
};

} // namespace basal::posse
