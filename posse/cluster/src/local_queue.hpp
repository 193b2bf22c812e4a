/// The engine of a batch that stays in one process: a queue with leases.
#pragma once

#include <basal/cluster/detail/item_queue.hpp>
#include <basal/cluster/work_source.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace basal::cluster {

/// Handles, on a worker, a message for all workers; `who` has an answer.
using control_handler
  = std::function<std::optional<detail::worker_info>(const detail::control_message&)>;

/// Both sides may be used from any number of threads: one mutex guards everything.
class local_queue final : public detail::item_queue, public work_source {
public:
  explicit local_queue(std::chrono::milliseconds lease) : lease_(lease) {
  }

  void add_worker(control_handler handler);

  detail::shared_input share(std::string_view bytes) override;
  void post(std::span<const std::string> messages) override;
  std::vector<detail::arrival> receive(std::size_t most, std::chrono::milliseconds wait) override;
  void settle(std::span<const detail::arrival> results) override;
  std::size_t outstanding() override;
  void tell(const detail::control_message& what) override;
  std::vector<detail::worker_info> workers() override;
  void withdraw() override;
  std::size_t max_message_bytes() const override;

  std::vector<leased_work> fetch(std::size_t most, std::stop_token stop) override;
  void keep_alive(const std::string& token) override;
  void complete(std::span<const completed_work> work) override;
  std::string shared(const detail::shared_input& what) override;

  std::chrono::milliseconds lease() const override {
    return lease_;
  }

private:
  using clock = std::chrono::steady_clock;

  struct entry {
    std::string message;
    std::uint32_t deliveries = 0;
    clock::time_point expires; ///< while it is leased
  };

  void return_expired_locked(clock::time_point now);

  const std::chrono::milliseconds lease_;
  std::mutex mutex_;
  std::condition_variable_any work_came_;
  std::condition_variable result_came_;
  std::deque<entry> waiting_;
  std::map<std::string, entry> leased_;
  std::deque<detail::arrival> results_;
  std::map<detail::content_hash, std::string_view> shared_;
  std::vector<control_handler> workers_;
  std::uint64_t last_token_ = 0;
};

} // namespace basal::cluster
