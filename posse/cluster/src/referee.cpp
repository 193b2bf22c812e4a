#include "referee.hpp"

#include <basal/posse/runtime.hpp>

#include <basal/executors/detail/assert.hpp>

namespace basal::cluster {

void referee::ask(disputed question) {
  auto bytes = item_(question.item); // on the thread whose items they are
  {
    const std::lock_guard guard{mutex_};
    questions_.emplace_back(question, std::move(bytes));
  }
  ++open_;
  if (!thread_.joinable())
    thread_ = std::jthread{[this](std::stop_token stop) { judge(stop); }};
  asked_.notify_one();
}

std::vector<verdict> referee::verdicts() {
  const std::lock_guard guard{mutex_};
  BASAL_ASSERT(verdicts_.size() <= open_, "each verdict answers a question");
  open_ -= verdicts_.size();
  return std::exchange(verdicts_, {});
}

void referee::judge(std::stop_token stop) {
  posse::runtime runtime{{.compute_executors = 1}};
  const posse::call_options options{.stop = stop};
  std::shared_ptr<const void> shared;
  std::unique_lock lock{mutex_};
  while (asked_.wait(lock, stop, [this] { return !questions_.empty(); })) {
    const auto [question, bytes] = std::move(questions_.front());
    questions_.pop_front();
    lock.unlock();
    verdict v{.question = question, .has_result = false, .right = {}};
    try {
      if (function_.open_shared && shared == nullptr)
        shared = function_.open_shared(shared_);
      v.right = function_.run(runtime, options, shared.get(), bytes);
      v.has_result = true;
    } catch (...) {
      // The item threw here: no verdict on the workers' results.
    }
    lock.lock();
    verdicts_.push_back(std::move(v));
  }
}

} // namespace basal::cluster
