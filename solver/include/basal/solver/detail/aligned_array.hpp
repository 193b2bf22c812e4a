/// Arrays for the vector units.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace basal::solver::detail {

/// A cache line, and the longest vector that there is.
inline constexpr std::size_t alignment = 64;

/// Memory aligned to at least `alignment`; what is big asks for huge pages, since a gather from
/// anywhere in a big vector otherwise misses the TLB as often as the cache. Throws bad_alloc.
void* allocate_aligned(std::size_t bytes);
void free_aligned(void* memory) noexcept;

/// A fixed number of trivial T, uninitialised at first.
template <class T>
class aligned_array {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  aligned_array() = default;

  explicit aligned_array(std::size_t size)
    : data_(size == 0 ? nullptr : static_cast<T*>(allocate_aligned(bytes_of(size)))), size_(size) {
  }

  aligned_array(aligned_array&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {
  }

  aligned_array& operator=(aligned_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~aligned_array() {
    free_aligned(data_);
  }

  T* data() noexcept {
    return data_;
  }
  const T* data() const noexcept {
    return data_;
  }
  std::size_t size() const noexcept {
    return size_;
  }
  T& operator[](std::size_t i) noexcept {
    return data_[i];
  }
  const T& operator[](std::size_t i) const noexcept {
    return data_[i];
  }

private:
  static std::size_t bytes_of(std::size_t size) {
    if (size > static_cast<std::size_t>(-1) / sizeof(T))
      throw std::bad_array_new_length{};
    return size * sizeof(T);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace basal::solver::detail
