#pragma once

#include <atomic>

#include <basal/executors/work_item.hpp>

namespace basal::executors {

/// A link for work that is meant for one particular executor: a suspended fiber
/// that may go on, or a delegation. Lives in the thing it delivers.
struct inbox_node {
  inbox_node* next = nullptr;
  work_item item;
};

/// A FIFO list of nodes. Not thread-safe.
class inbox_list {
public:
  bool empty() const noexcept {
    return first_ == nullptr;
  }

  void push_back(inbox_node& node) noexcept {
    node.next = nullptr;
    if (first_ == nullptr)
      first_ = &node;
    else
      last_->next = &node;
    last_ = &node;
  }

  inbox_node* pop_front() noexcept {
    auto* node = first_;
    if (node != nullptr)
      first_ = node->next;
    return node;
  }

private:
  inbox_node* first_ = nullptr;
  inbox_node* last_ = nullptr;
};

/// Many producers, one consumer: an executor's mail. Lock-free, no allocation,
/// never full. FIFO per producer.
///
/// `Atomic` is a template parameter so that tests can run the same code under a
/// controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_inbox {
public:
  /// Adds `node`. Any thread. The seq_cst exchange publishes the node (pairs
  /// with take_all) and orders it before the producer's look at the idle set.
  void push(inbox_node& node) noexcept {
    auto* newest = newest_.load(std::memory_order_relaxed);
    do {
      node.next = newest;
    } while (!newest_.compare_exchange_weak(newest, &node, std::memory_order_seq_cst,
                                            std::memory_order_relaxed));
  }

  /// Moves everything to the end of `out`, oldest first. Owner only.
  void take_all(inbox_list& out) noexcept {
    auto* node = newest_.exchange(nullptr, std::memory_order_acquire);
    inbox_node* oldest = nullptr;
    while (node != nullptr) { // newest first: reverse
      auto* next = node->next;
      node->next = oldest;
      oldest = node;
      node = next;
    }
    while (oldest != nullptr) {
      auto* next = oldest->next;
      out.push_back(*oldest);
      oldest = next;
    }
  }

  /// Snapshot; seq_cst: usable as the last look before sleep (see idle_set).
  bool empty() const noexcept {
    return newest_.load(std::memory_order_seq_cst) == nullptr;
  }

private:
  /// Written by producers (push) and the owner (take_all).
  Atomic<inbox_node*> newest_{nullptr};
};

using inbox = basic_inbox<>;

} // namespace basal::executors
