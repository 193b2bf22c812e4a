#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <typeinfo>

namespace basal::mab {

/// Identifies what is learned about: usually (actor type, message type).
///
/// Equal types or names make equal keys within one process; nothing is promised
/// across processes. Keys are 64-bit hashes: with a thousand of them, two
/// collide with a probability of 3e-14, and would then share what they learn.
struct function_key {
  std::uint64_t value = 0; ///< any value of one's own is a valid key, too

  /// The key of a name. Cost: proportional to its length.
  static constexpr function_key from_name(std::string_view name) noexcept {
    // FNV-1a (Fowler, Noll, Vo), 64 bits.
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return {hash};
  }

  /// The key of a type, made of the name that the compiler gives it. Made once, since that of a
  /// handler in a template has hundreds of characters.
  template <class T>
  static function_key from_type() noexcept {
    static const auto key = from_name(typeid(T).name());
    return key;
  }

  /// Ordered: (A, B) is another key than (B, A).
  static constexpr function_key combine(function_key a, function_key b) noexcept {
    return {(a.value ^ (b.value + 0x9e3779b97f4a7c15 + (a.value << 6) + (a.value >> 2)))
            * 0x100000001b3};
  }

  /// The key of messages of type `Message` to actors of type `Actor`.
  template <class Actor, class Message>
  static function_key of() noexcept {
    return combine(from_type<Actor>(), from_type<Message>());
  }

  friend constexpr bool operator==(function_key, function_key) noexcept = default;
};

} // namespace basal::mab

template <>
struct std::hash<basal::mab::function_key> {
  std::size_t operator()(basal::mab::function_key x) const noexcept {
    return static_cast<std::size_t>(x.value);
  }
};
