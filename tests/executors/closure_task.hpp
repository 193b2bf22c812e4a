#pragma once

#include <basal/executors/executor.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

// A heap-allocated closure as a work item; counts what became of it.
struct task {
  std::function<void(basal::executors::executor&)> body;
  std::atomic<int>* discarded = nullptr;

  static basal::executors::work_item make(std::function<void(basal::executors::executor&)> body,
                                          std::atomic<int>* discarded = nullptr) {
    return {new task{std::move(body), discarded}, &ops};
  }

  static const basal::executors::work_ops ops;
};

inline constexpr basal::executors::work_ops task::ops{
  [](void* object, basal::executors::executor& self) noexcept {
    std::unique_ptr<task> t{static_cast<task*>(object)};
    t->body(self);
  },
  [](void* object) noexcept {
    std::unique_ptr<task> t{static_cast<task*>(object)};
    if (t->discarded != nullptr)
      t->discarded->fetch_add(1);
  },
};
