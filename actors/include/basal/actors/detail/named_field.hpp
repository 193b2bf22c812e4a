#pragma once

#include <caf/deep_to_string.hpp>
#include <caf/detail/stringification_inspector.hpp>

#include <string>
#include <type_traits>

namespace basal::actors::detail {

/// A field that prints as "name = value".
template <class T>
struct named_field {
  const char* name;
  const T& value;
};

template <class T>
std::string to_string(const named_field<T>& x) {
  return x.name + (" = " + caf::deep_to_string(x.value));
}

/// CAF 0.17 has no names of fields. `field("count", x.count)` gives the name to the inspector that
/// prints, and only the value to those that save, load or hash.
template <class Inspector>
struct field_namer {
  static constexpr bool prints = std::is_same_v<Inspector, caf::detail::stringification_inspector>;

  template <class T>
  decltype(auto) operator()([[maybe_unused]] const char* name, T& value) const {
    if constexpr (prints)
      return named_field<T>{name, value};
    else
      return (value);
  }
};

} // namespace basal::actors::detail
