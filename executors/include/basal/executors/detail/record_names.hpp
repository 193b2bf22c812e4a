#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace basal::detail {

/// The texts of a recording, which its records name by number. They are copied, so that they
/// outlive what they name, and never forgotten. Number 0 is no name; whatever comes when
/// the table is full has none either.
///
/// A text that begins with '@' is the mangled name of a type.
class record_names {
public:
  static constexpr std::size_t max_names = 4096;
  static constexpr std::size_t max_length = 239; ///< in bytes; longer texts are cut off

  /// The number of a text. Any thread; a mutex where the text is new.
  static std::uint16_t number_of(std::string_view text) noexcept;

  /// Numbers below this one have a text. Any thread, signal handlers included.
  static std::size_t count() noexcept;

  static std::string_view text(std::size_t number) noexcept;
};

/// The numbers that one thread has looked up, by the address of what was named.
class record_name_cache {
public:
  /// The number kept for `key`, or 0.
  [[gnu::always_inline]] std::uint16_t find(const void* key) const noexcept {
    const auto& e = entries_[index_of(key)];
    return e.key == key ? e.number : std::uint16_t{0};
  }

  void keep(const void* key, std::uint16_t number) noexcept {
    entries_[index_of(key)] = {key, number};
  }

private:
  static constexpr std::size_t size = 64; ///< types of actors that take turns on a thread; a guess

  /// Tables of types lie 16 bytes apart or more.
  static std::size_t index_of(const void* key) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(key);
    return (address >> 4 ^ address >> 10) % size;
  }

  struct entry {
    const void* key = nullptr;
    std::uint16_t number = 0;
  };
  std::array<entry, size> entries_{};
};

} // namespace basal::detail
