#include "next_message.hpp"

#include <caf/atom.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/type_erased_tuple.hpp>
#include <caf/type_nr.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include <basal/executors/detail/demangled.hpp>

namespace basal::actors {

namespace {

constexpr auto atom_number = caf::type_nr<caf::atom_value>::value;

/// More elements are not told apart.
constexpr std::size_t most_elements = 8;

std::string name_of(const caf::type_erased_tuple& content, std::size_t position) {
  const auto [number, type] = content.type(position);
  if (number == atom_number)
    return "'" + to_string(content.get_as<caf::atom_value>(position)) + "'";
  if (number == 0)
    return basal::detail::demangled(type->name());
  const std::string_view name = caf::numbered_type_names[number - 1];
  return std::string{name.substr(name.starts_with('@') ? 1 : 0)};
}

std::string name_of(const caf::type_erased_tuple& content) {
  if (content.size() == 1)
    return name_of(content, 0);
  std::string result = "(";
  for (std::size_t i = 0; i < std::min(content.size(), most_elements); ++i)
    result += (i == 0 ? "" : ", ") + name_of(content, i);
  return result + (content.size() > most_elements ? ", ...)" : ")");
}

/// The same for messages of the same name, and odd, so that it is nobody's address.
const void* key_of(const caf::type_erased_tuple& content) noexcept {
  const auto size = content.size();
  std::uint64_t hash = size;
  for (std::size_t i = 0; i < std::min(size, most_elements); ++i) {
    const auto [number, type] = content.type(i);
    const auto element = number == atom_number
                           ? static_cast<std::uint64_t>(content.get_as<caf::atom_value>(i))
                           : number + reinterpret_cast<std::uintptr_t>(type);
    hash = (hash ^ element) * 0x9e3779b97f4a7c15; // 2^64 over the golden ratio
    hash ^= hash >> 32;
  }
  return reinterpret_cast<const void*>(hash | 1);
}

} // namespace

std::uint16_t next_message_name(caf::resumable& job, basal::detail::recording& into) noexcept {
  const auto kind = job.subtype();
  if (kind != caf::resumable::scheduled_actor && kind != caf::resumable::io_actor)
    return 0;
  const auto* next = static_cast<caf::scheduled_actor&>(job).peek_at_next_mailbox_element();
  if (next == nullptr)
    return 0;
  const auto& content = next->content();
  const auto* key = key_of(content);
  if (const auto number = into.find_name(key); number != 0)
    return number;
  try {
    return into.keep_name(key, name_of(content));
  } catch (const std::bad_alloc&) {
    return 0; // a record without it
  }
}

} // namespace basal::actors
