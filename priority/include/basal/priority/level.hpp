#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace basal::priority {

/// How urgent a task is; less comes first. Any number is a level, `level{7}` too.
///
/// With the default weights one level is worth 10 s of waiting or 1 s of
/// estimated runtime; see weights.
enum class level : std::uint32_t {
  interactive = 0,         ///< somebody waits for it now
  normal = 5,              ///< part of what somebody waits for
  background_compile = 10, ///< makes later work faster
  low = 20,
  batch = 50, ///< nobody waits for it
};

/// A level that has a name.
struct named_level {
  level at;         ///< the level
  const char* name; ///< of the enumerator
};

/// All of them, the most urgent first. Statistics count by these: a level without a name is counted
/// with the next more urgent one that has one, `level{7}` with `normal`.
inline constexpr std::array<named_level, 5> named_levels{{
  {level::interactive, "interactive"},
  {level::normal, "normal"},
  {level::background_compile, "background_compile"},
  {level::low, "low"},
  {level::batch, "batch"},
}};

/// Place in `named_levels` of the one that `at` is counted with.
constexpr std::size_t place_of(level at) noexcept {
  std::size_t place = 0;
  while (place + 1 < named_levels.size() && named_levels[place + 1].at <= at)
    ++place;
  return place;
}

} // namespace basal::priority
