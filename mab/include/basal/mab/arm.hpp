#pragma once

namespace basal::mab {

/// The places where a handler may run.
enum class arm {
  inline_here, ///< on the executor where its message arrived
  offload,     ///< on a compute executor
};

constexpr const char* to_string(arm x) noexcept {
  return x == arm::inline_here ? "inline" : "offload";
}

} // namespace basal::mab
