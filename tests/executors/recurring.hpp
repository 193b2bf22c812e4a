#pragma once

#include <basal/executors/executors.hpp>

#include <functional>

/// Work that runs as often as it is queued, as an actor does, and is known by its address. Owned by
/// the test.
struct recurring {
  std::function<void(basal::executors::executor&)> body;
  bool has_more = false; ///< as an actor with another message

  static const basal::executors::work_ops ops;

  basal::executors::work_item item() {
    return {this, &ops};
  }
};

inline constexpr basal::executors::work_ops recurring::ops{
  [](void* object, basal::executors::executor& self) noexcept {
    static_cast<recurring*>(object)->body(self);
  },
  [](void*) noexcept {},
  "a recurring task",
  nullptr,
  nullptr,
  [](void* object) noexcept { return static_cast<recurring*>(object)->has_more; },
};
