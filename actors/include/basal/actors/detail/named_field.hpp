#pragma once

#include <caf/deep_to_string.hpp>
#include <caf/detail/stringification_inspector.hpp>

#include <optional>
#include <string>
#include <type_traits>

namespace basal::actors::detail {

/// A field that prints as "name = value".
template <class T>
struct named_field {
  const char* name;
  const T& value;
};

/// CAF 0.17 does not see a to_string that returns a string_view, and knows no std::optional.
template <class T>
std::string print(const T& x) {
  return caf::deep_to_string(x);
}

template <class T>
requires std::is_enum_v<T> && requires(const T& x) {
  std::string{to_string(x)};
}
std::string print(const T& x) {
  return std::string{to_string(x)};
}

template <class T>
std::string print(const std::optional<T>& x) {
  return x ? print(*x) : "none";
}

template <class T>
std::string to_string(const named_field<T>& x) {
  return x.name + (" = " + print(x.value));
}

/// CAF 0.17 has no names of fields. `field("count", x.count)` gives the name to the inspector that
/// prints or has a member `names_fields`, and only the value to those that save, load or hash.
template <class Inspector>
struct field_namer {
  static constexpr bool prints
    = std::is_same_v<Inspector, caf::detail::stringification_inspector> || requires {
    Inspector::names_fields;
  };

  template <class T>
  decltype(auto) operator()([[maybe_unused]] const char* name, T& value) const {
    if constexpr (prints)
      return named_field<T>{name, value};
    else
      return (value);
  }
};

} // namespace basal::actors::detail
