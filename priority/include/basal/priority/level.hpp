#pragma once

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

} // namespace basal::priority
