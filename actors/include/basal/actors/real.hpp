#pragma once

// CAF 0.17.6's wire format changes NaN, -0.0 and subnormal numbers, and never returns from an
// infinite one. These types stand where a message had a double or a vector of them: they travel as
// the integers with the same bits. Within a process nothing is serialised.

#include <basal/actors/detail/named_field.hpp>

#include <caf/error.hpp>
#include <caf/meta/load_callback.hpp>

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace basal::actors {

/// A double that survives CAF's serialiser, whichever it is.
struct real {
  double value = 0; ///< any, also infinite or NaN

  real() = default;

  /// Implicit, so that a real stands where a double did.
  /// @{
  real(double x) noexcept : value(x) { // NOLINT: implicit on purpose
  }
  operator double() const noexcept { // NOLINT: implicit on purpose
    return value;
  }
  /// @}
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, real& x) {
  if constexpr (detail::field_namer<Inspector>::prints) {
    return f(x.value);
  } else {
    auto bits = std::bit_cast<std::uint64_t>(x.value);
    auto load = [&]() -> caf::error {
      x.value = std::bit_cast<double>(bits);
      return caf::none;
    };
    return f(bits, caf::meta::load_callback(load));
  }
}

/// A vector of them.
struct reals {
  std::vector<double> values; ///< any, also infinite or NaN

  reals() = default;

  /// Implicit, so that a vector can be given. O(1).
  reals(std::vector<double> x) noexcept : values(std::move(x)) { // NOLINT: implicit on purpose
  }
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, reals& x) {
  if constexpr (detail::field_namer<Inspector>::prints) {
    return f(x.values);
  } else {
    std::vector<std::uint64_t> bits;
    if constexpr (Inspector::reads_state) {
      bits.reserve(x.values.size());
      for (double value : x.values)
        bits.push_back(std::bit_cast<std::uint64_t>(value));
    }
    auto load = [&]() -> caf::error {
      x.values.clear();
      x.values.reserve(bits.size());
      for (auto b : bits)
        x.values.push_back(std::bit_cast<double>(b));
      return caf::none;
    };
    return f(bits, caf::meta::load_callback(load));
  }
}

} // namespace basal::actors
