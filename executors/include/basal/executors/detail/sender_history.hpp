#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace basal::detail {

/// An executor's memory of objects that send to others: whether they go on for long after they have
/// sent. By address, direct-mapped and bounded, as a branch predictor's table: an object may be
/// forgotten, or be taken for another one, which costs time and never correctness.
///
/// One of which nothing is known is taken for what the last two of such turned out to be, though
/// nobody need be woken for it at once: all actors of a program may be new, as where each makes the
/// next one and then computes.
///
/// Owner only; wait-free, allocates nothing.
class sender_history {
public:
  static constexpr std::size_t size = 1024;

  enum class kind : std::uint8_t {
    brief,            ///< ends soon
    slow,             ///< takes long; whether before or after it sends is not known yet
    sends_late,       ///< takes long, and ends soon after it has sent
    outlasts_theft,   ///< goes on, after it has sent, for longer than a theft costs
    outlasts_wake_up, ///< goes on for longer than it takes to wake an executor
  };

  kind of(const void* object) const noexcept {
    const auto h = hash(object);
    const auto& e = entries_[h >> index_shift];
    return e.tag == tag_of(h) ? e.what : unknown_;
  }

  void learn(const void* object, kind what) noexcept {
    const auto h = hash(object);
    auto& e = entries_[h >> index_shift];
    if (e.tag != tag_of(h)) {
      const auto as_unknown = std::min(what, kind::outlasts_theft);
      if (std::exchange(latest_unknown_, as_unknown) == as_unknown)
        unknown_ = as_unknown;
    }
    e = {tag_of(h), what};
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
  kind unknown_ = kind::brief;
  kind latest_unknown_ = kind::brief;
  std::array<entry, size> entries_{};
};

} // namespace basal::detail
