#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <basal/posse/detail/pace.hpp>

namespace basal::posse::detail {

/// The elements [first, last) of a range in units of 2^k elements each, the last one of fewer: so
/// large ones that the number of a unit is a half of a word.
class range_units {
public:
  range_units(std::size_t first, std::size_t last) noexcept
    : first_(first),
      last_(last),
      bits_(std::max(0, static_cast<int>(std::bit_width(last - first)) - most_bits)) {
  }

  std::size_t last() const noexcept {
    return last_;
  }

  std::size_t elements() const noexcept {
    return last_ - first_;
  }

  /// The first unit that has nothing before `element`.
  std::uint32_t unit_at(std::size_t element) const noexcept {
    const auto elements = element - first_;
    return static_cast<std::uint32_t>((elements >> bits_)
                                      + ((elements & ((std::size_t{1} << bits_) - 1)) != 0));
  }

  /// Its first element, or the end.
  std::size_t element_at(std::uint32_t unit) const noexcept {
    return std::min(last_, first_ + (std::size_t{unit} << bits_));
  }

  /// Units of so many elements, one at least.
  std::uint32_t units_of(std::size_t elements) const noexcept {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(elements >> bits_, 1, ~0u));
  }

  /// Where about n units from `first` on end: see pace.
  std::uint32_t end_of(std::uint32_t first, std::uint32_t n) const noexcept {
    return bits_ != 0 ? first + n
                      : static_cast<std::uint32_t>(pace::end_of(first_ + first, n) - first_);
  }

private:
  static constexpr int most_bits = 31;

  std::size_t first_;
  std::size_t last_;
  int bits_;
};

} // namespace basal::posse::detail
