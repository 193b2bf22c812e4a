#include <basal/cluster/registry.hpp>

#include <algorithm>

namespace basal::cluster {

void detail::expect_good_name(std::string_view name) {
  const auto good = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
           || c == '_';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), good))
    throw error{errc::bad_option, "the name of a registered function is 1 to 64 letters, digits, "
                                  "'-' and '_'; '"
                                    + std::string{name} + "' is not"};
}

registry& registry::add(detail::registered function) {
  const auto same = [&](const detail::registered& f) {
    return f.key.name == function.key.name && f.key.version == function.key.version;
  };
  if (std::any_of(functions_.begin(), functions_.end(), same))
    throw error{errc::bad_option, "the function " + function.key.name
                                    + " is registered twice. Give one of the two another version"};
  functions_.push_back(std::move(function));
  return *this;
}

const detail::registered* registry::find(const detail::function_key& key) const noexcept {
  for (const auto& f : functions_)
    if (f.key == key)
      return &f;
  return nullptr;
}

} // namespace basal::cluster
