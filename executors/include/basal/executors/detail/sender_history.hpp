#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace basal::detail {

/// An executor's memory of objects that send to others: whether they go on for long after they have
/// sent. By address, direct-mapped and bounded, as a branch predictor's table: an object may be
/// forgotten, or be taken for another one, which costs time and never correctness.
///
/// Owner only; wait-free, allocates nothing.
class sender_history {
public:
  static constexpr std::size_t size = 1024;

  enum class kind : std::uint8_t {
    brief,            ///< ends soon, or nothing is known of it
    slow,             ///< takes long; whether before or after it sends is not known yet
    sends_late,       ///< takes long, and ends soon after it has sent
    outlasts_theft,   ///< goes on, after it has sent, for longer than a theft costs
    outlasts_wake_up, ///< goes on for longer than it takes to wake an executor
  };

  kind of(const void* object) const noexcept {
    const auto h = hash(object);
    const auto& e = entries_[h >> index_shift];
    return e.tag == tag_of(h) ? e.what : kind::brief;
  }

  void learn(const void* object, kind what) noexcept {
    const auto h = hash(object);
    entries_[h >> index_shift] = {tag_of(h), what};
  }

private:
  struct entry {
    std::uint16_t tag = 0;
    kind what = kind::brief;
  };

  // A 64-bit mixer, shortened: actors of one kind lie at equal distances.
  static std::uint64_t hash(const void* object) noexcept {
    auto h = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(object));
    h *= 0x9e37'79b9'7f4a'7c15u;
    h ^= h >> 32;
    return h * 0xd6e8'feb8'6659'fd93u;
  }

  static std::uint16_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint16_t>(hash >> 36);
  }

  static constexpr int index_shift = 54;
  static_assert(size == std::size_t{1} << (64 - index_shift));
  std::array<entry, size> entries_{};
};

} // namespace basal::detail
