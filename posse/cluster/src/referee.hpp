/// Computes items once more, in this process, so that somebody knows which of two results is right.
#pragma once

#include <basal/cluster/detail/hash.hpp>
#include <basal/cluster/registry.hpp>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace basal::cluster {

/// A result in question, or in doubt.
struct disputed {
  std::uint64_t item;
  std::uint32_t worker; ///< that computed the result
  detail::content_hash hash;
  bool counted = false; ///< as a mismatch, already
};

struct verdict {
  disputed question;
  bool has_result = false; ///< the item has one here; else it threw, and nobody knows
  std::string right;       ///< the result of this process
};

/// A thread and one executor, started for the first question.
class referee {
public:
  /// Both, and the bytes that the items share, outlive it.
  referee(const detail::registered& function, std::string_view shared,
          std::function<std::string(std::uint64_t)> item)
    : function_(function), shared_(shared), item_(std::move(item)) {
  }

  void ask(disputed question);

  /// The verdicts since the last call.
  std::vector<verdict> verdicts();

  /// Questions without a verdict that was taken.
  std::size_t open() const noexcept {
    return open_;
  }

private:
  void judge(std::stop_token stop);

  const detail::registered& function_;
  const std::string_view shared_;
  const std::function<std::string(std::uint64_t)> item_;
  std::size_t open_ = 0; ///< the asking thread's
  std::mutex mutex_;
  std::condition_variable_any asked_;
  std::deque<std::pair<disputed, std::string>> questions_; ///< with the item's bytes
  std::vector<verdict> verdicts_;
  std::jthread thread_; ///< last: it ends before what it uses
};

} // namespace basal::cluster
