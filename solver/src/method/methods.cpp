// Tables derived from the closed set of methods.
#include "method/methods.hpp"

#include <vector>

namespace basal::solver {

namespace {

// Null for what is no method.
const detail::method_facts* find_facts(method m) noexcept {
  static constexpr detail::method_facts router{.name = "automatic"};
  if (m == method::automatic)
    return &router;
  return detail::with_class_of<double>(
    m, []<class Method>(std::type_identity<Method>) { return &Method::facts; });
}

} // namespace

const detail::method_facts& detail::facts_of(method m) noexcept {
  const auto* facts = find_facts(m);
  assert(facts != nullptr);
  return *facts;
}

std::span<const method> all_methods() {
  static const std::vector<method> all = [] {
    std::vector<method> found;
    for (std::uint8_t number = 0; find_facts(method{number}) != nullptr; ++number)
      found.push_back(method{number});
    return found;
  }();
  return all;
}

bool computes_one_entry(method m) noexcept {
  return detail::facts_of(m).one_entry;
}

std::string_view to_string(method m) noexcept {
  const auto* facts = find_facts(m);
  return facts != nullptr ? facts->name : "unknown";
}

} // namespace basal::solver
