/// Lists of objects that notice when one of them was collected too early, and the
/// garbage that then overwrites it.
#pragma once

#include <basal/posse/gc/gc.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace canaries {

struct node {
  // Not the first word: the collector keeps a link there in what it has freed.
  const node* next;
  std::uint64_t check;
};

constexpr std::uint64_t check_of(std::uint64_t list, std::uint64_t index) {
  auto x = (list << 20 | index) * 0x9e3779b97f4a7c15u + 1;
  return x ^ (x >> 31);
}

/// A list whose objects nothing but the result points to.
[[gnu::noinline]] inline const node* make(std::uint64_t list, std::uint64_t length) {
  namespace gc = basal::posse::gc;
  const node* first = nullptr;
  for (auto i = length; i-- > 0;)
    first = gc::make<node>(first, check_of(list, i)).get();
  return first;
}

/// How many of its objects are not there any more: 0, or all from the first
/// lost one on.
[[gnu::noinline]] inline std::uint64_t lost(const node* first, std::uint64_t list,
                                            std::uint64_t length) {
  std::uint64_t index = 0;
  for (; index < length; ++index, first = first->next)
    if (first == nullptr || first->check != check_of(list, index))
      return length - index;
  return first == nullptr ? 0 : 1;
}

/// Overwrites what was collected.
[[gnu::noinline]] inline void litter(std::uint64_t objects) {
  make(~std::uint64_t{0} >> 24, objects);
}

/// A number from the environment: the same tests, but longer.
inline std::uint64_t amount(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::stoull(text) : otherwise;
}

} // namespace canaries
