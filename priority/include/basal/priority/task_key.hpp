#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace basal::priority {

/// Names a type of task: tasks whose runtimes are alike. A tracker learns runtimes per key.
///
/// Keys are 64-bit hashes. Equal names, with equal details, are equal keys, in
/// every process; of a thousand others two collide with a probability of 3e-14
/// and then share what is learned.
class task_key {
public:
  /// The key of tasks that say nothing about themselves.
  constexpr task_key() noexcept = default;

  /// The key of a name. Cost: proportional to its length.
  explicit constexpr task_key(std::string_view name) noexcept : value_(hash(name)) {
  }

  /// One of many types of the same name: the expression with this structural
  /// hash, say.
  constexpr task_key(std::string_view name, std::uint64_t detail) noexcept
    : value_(mix(hash(name) + mix(detail + 0x9e3779b97f4a7c15))) {
  }

  /// The hash; 0 for tasks that say nothing about themselves.
  constexpr std::uint64_t value() const noexcept {
    return value_;
  }

  friend constexpr bool operator==(task_key, task_key) noexcept = default;

private:
  static constexpr std::uint64_t hash(std::string_view name) noexcept {
    // FNV-1a (Fowler, Noll, Vo), 64 bits, mixed since tables use its low bits.
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : name)
      h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return mix(h);
  }

  /// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014; variant 13).
  static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::uint64_t value_ = 0;
};

} // namespace basal::priority

template <>
struct std::hash<basal::priority::task_key> {
  std::size_t operator()(basal::priority::task_key x) const noexcept {
    return static_cast<std::size_t>(x.value());
  }
};
