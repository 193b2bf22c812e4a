#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/gc/object.hpp>

namespace basal::posse::gc {

/// A range of known size from whose elements those of a `Vector` can be made.
template <class Range, class Vector>
concept elements_of = requires {
  requires std::ranges::sized_range<Range>;
  requires !std::same_as<std::remove_cvref_t<Range>, Vector>;
  requires std::constructible_from<typename Vector::value_type,
                                   std::ranges::range_reference_t<Range>>;
};

/// An immutable array in the heap. Copies and slices share the elements and cost
/// two words. A contiguous range: `std::span<const T>` and the algorithms take it.
template <class T>
class vector : public detail::not_on_its_own<vector<T>> {
  static_assert(collectable<T>, "the collector runs no destructors: elements must be trivially "
                                "destructible and aligned to 16 bytes at most");

public:
  using points_into_heap = void; ///< see heap_value

  /// As of a std::vector that cannot be changed.
  /// @{
  using value_type = T;
  using size_type = std::size_t;
  using const_reference = const T&;
  using const_iterator = const T*;
  using iterator = const_iterator;
  /// @}

  constexpr vector() noexcept = default;

  /// @throws std::bad_alloc, what the account in force throws, what copying throws.
  vector(std::initializer_list<T> elements)
    : vector(std::span<const T>(elements.begin(), elements.size())) {
  }

  /// Copies the elements of a range of known size.
  template <elements_of<vector> Range>
  explicit vector(Range&& elements) {
    auto count = static_cast<std::size_t>(std::ranges::size(elements));
    auto* to = room_for(count);
    auto from = std::ranges::begin(elements);
    for (std::size_t i = 0; i < count; ++i, ++from)
      std::construct_at(to + i, *from);
    data_ = to;
    size_ = count;
  }

  /// The elements function(0), function(1), ..., function(count - 1).
  template <class Function>
  static vector generate(std::size_t count, Function function) {
    auto* to = room_for(count);
    for (std::size_t i = 0; i < count; ++i)
      std::construct_at(to + i, function(i));
    return vector{to, count};
  }

  /// The elements, as of a std::span. O(1). Valid as long as this, or a copy of it, is where the
  /// collector looks.
  /// @{
  constexpr const T* data() const noexcept {
    return data_;
  }
  constexpr std::size_t size() const noexcept {
    return size_;
  }
  constexpr bool empty() const noexcept {
    return size_ == 0;
  }
  constexpr const T* begin() const noexcept {
    return data_;
  }
  constexpr const T* end() const noexcept {
    return data_ + size_;
  }
  /// @}

  /// `index` must be below size().
  constexpr const T& operator[](std::size_t index) const noexcept {
    BASAL_ASSERT(index < size_, "an index of a gc::vector is below size()");
    return data_[index];
  }

  /// @throws std::out_of_range
  const T& at(std::size_t index) const {
    if (index >= size_)
      throw std::out_of_range("gc::vector: index " + std::to_string(index) + " of "
                              + std::to_string(size_));
    return data_[index];
  }

  /// The first and the last element. The vector must not be empty.
  /// @{
  constexpr const T& front() const noexcept {
    BASAL_ASSERT(size_ != 0, "an empty gc::vector has no first element");
    return data_[0];
  }
  constexpr const T& back() const noexcept {
    BASAL_ASSERT(size_ != 0, "an empty gc::vector has no last element");
    return data_[size_ - 1];
  }
  /// @}

  /// The elements from `first` on, at most `count`, without a copy. They keep
  /// the whole array alive.
  vector slice(std::size_t first, std::size_t count = static_cast<std::size_t>(-1)) const noexcept {
    first = std::min(first, size_);
    return vector{data_ + first, std::min(count, size_ - first)};
  }

  friend bool operator==(const vector& a, const vector& b) {
    return std::ranges::equal(a, b);
  }
  friend auto operator<=>(const vector& a, const vector& b) requires std::three_way_comparable<T> {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  constexpr vector(const T* data, std::size_t size) noexcept : data_(data), size_(size) {
  }

  static T* room_for(std::size_t count) {
    if (count == 0)
      return nullptr;
    if (count > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T))
      throw std::bad_array_new_length{};
    return static_cast<T*>(allocate(count * sizeof(T), content_of<T>));
  }

  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace basal::posse::gc

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<basal::posse::gc::vector<T>> = true;

template <class T>
class std::allocator<basal::posse::gc::vector<T>>
  : basal::posse::gc::detail::no_allocator<basal::posse::gc::vector<T>> {};

template <class Key, class T>
class std::allocator<std::pair<const Key, basal::posse::gc::vector<T>>>
  : basal::posse::gc::detail::no_allocator<basal::posse::gc::vector<T>> {};
