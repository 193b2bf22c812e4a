#pragma once

#include <concepts>
#include <utility>

#include <basal/posse/gc/object.hpp>
#include <basal/posse/gc/ptr.hpp>

namespace basal::posse::gc {

namespace detail {

/// A counted cell that the collector always scans and never frees. Any thread;
/// making and freeing one costs some 30 ns each.
/// @throws std::bad_alloc
void* make_cell(const void* words, std::size_t bytes);
const void* cell_words(const void* cell) noexcept;
void* share_cell(void* cell) noexcept;
void drop_cell(void* cell) noexcept;

} // namespace detail

/// Keeps what a heap value points to alive wherever the handle itself is kept:
/// in messages, in actors' states, in std containers. Copies share one cell;
/// an object lives at least as long as a handle to it. Like a shared_ptr, one
/// handle is for one thread at a time.
///
/// CAF wants to be told that it need not be serialised:
/// CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gc::handle<gc::ptr<my_type>>).
///
/// @tparam Value ptr, vector, string, ord_map; or any collectable type.
template <class Value>
class handle {
  static_assert(collectable<Value> && std::is_trivially_copyable_v<Value>);

public:
  /// Holds nothing.
  handle() noexcept = default;

  /// @throws std::bad_alloc
  explicit handle(const Value& value) : cell_(detail::make_cell(&value, sizeof value)) {
  }

  /// Copies share the cell: one atomic addition. A handle that was moved from is empty.
  /// @{
  handle(const handle& other) noexcept : cell_(detail::share_cell(other.cell_)) {
  }
  handle(handle&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {
  }
  handle& operator=(handle other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  /// @}

  ~handle() {
    detail::drop_cell(cell_);
  }

  /// Whether it holds a value.
  explicit operator bool() const noexcept {
    return cell_ != nullptr;
  }

  /// The value, from where on this thread's stacks hold it, or one that is
  /// default constructed.
  Value get() const {
    enter();
    return cell_ != nullptr ? *static_cast<const Value*>(detail::cell_words(cell_)) : Value{};
  }

private:
  void* cell_ = nullptr;
};

} // namespace basal::posse::gc
