#pragma once

// Statistics as JSON, by the same inspect() that prints and sends them: a new field of theirs is in
// the JSON without a line here.

#include <basal/actors/stats.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace basal::observer {

using json = nlohmann::ordered_json;

template <class T>
json to_json(const T& x);

/// One of CAF's inspectors: takes the fields of one struct with their names.
class json_inspector {
public:
  using result_type = void;
  static constexpr bool names_fields = true;

  template <class Type, class... Fields>
  void operator()(const Type&, const actors::detail::named_field<Fields>&... fields) {
    ((result[fields.name] = to_json(fields.value)), ...);
  }

  json result = json::object();
};

template <class T>
struct is_vector : std::false_type {};

template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

template <class T>
json to_json(const T& x) {
  if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return x;
  } else if constexpr (is_vector<T>::value) {
    auto result = json::array();
    for (const auto& element : x)
      result.push_back(to_json(element));
    return result;
  } else {
    json_inspector f;
    inspect(f, const_cast<T&>(x)); // CAF's inspectors take what they only read by reference
    return std::move(f.result);
  }
}

/// As text. Bytes that are no UTF-8, in the name of a function say, become U+FFFD.
inline std::string text_of(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace basal::observer
