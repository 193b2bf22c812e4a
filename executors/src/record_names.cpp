#include <basal/executors/detail/record_names.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace basal::detail {

namespace {

constexpr std::size_t table_size = 2 * record_names::max_names;

struct entry {
  std::uint8_t length = 0;
  std::array<char, record_names::max_length> text{};
};

/// Pages that hold no name are never touched. An entry is written once, under the mutex, before
/// its number is stored in `numbers` and below `used`: release there, acquire in readers.
constinit std::array<entry, record_names::max_names> names{};
constinit std::atomic<std::size_t> used{1};

/// Open addressing by the hash of the text; 0: free. Numbers never leave it.
constinit std::array<std::atomic<std::uint16_t>, table_size> numbers{};

constinit std::mutex growing;

std::size_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

/// The place of `text`, or the free place where it belongs. One of the two always exists: the table
/// has twice as many places as there are names.
std::atomic<std::uint16_t>& place_of(std::string_view text) noexcept {
  for (auto i = hash_of(text);; ++i) {
    auto& place = numbers[i % table_size];
    const auto number = place.load(std::memory_order_acquire);
    if (number == 0 || record_names::text(number) == text)
      return place;
  }
}

} // namespace

std::uint16_t record_names::number_of(std::string_view text) noexcept {
  text = text.substr(0, max_length);
  if (const auto number = place_of(text).load(std::memory_order_acquire); number != 0)
    return number;
  if (used.load(std::memory_order_acquire) == max_names)
    return 0; // for ever: no need to wait for the mutex
  std::lock_guard guard{growing};
  auto& place = place_of(text);
  if (const auto number = place.load(std::memory_order_relaxed); number != 0)
    return number; // another thread's, published by the mutex
  const auto number = used.load(std::memory_order_relaxed);
  if (number == max_names)
    return 0;
  auto& e = names[number];
  e.length = static_cast<std::uint8_t>(text.size());
  std::copy(text.begin(), text.end(), e.text.begin());
  place.store(static_cast<std::uint16_t>(number), std::memory_order_release);
  used.store(number + 1, std::memory_order_release);
  return static_cast<std::uint16_t>(number);
}

std::size_t record_names::count() noexcept {
  return used.load(std::memory_order_acquire);
}

std::string_view record_names::text(std::size_t number) noexcept {
  const auto& e = names[number];
  return {e.text.data(), e.length};
}

} // namespace basal::detail
