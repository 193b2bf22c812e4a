/// A worker's side of NATS JetStream.
#pragma once

#include <basal/cluster/detail/message.hpp>
#include <basal/cluster/work_source.hpp>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "connection.hpp"

namespace basal::cluster::nats {

using control_handler
  = std::function<std::optional<detail::worker_info>(const detail::control_message&)>;

class nats_source final : public work_source {
public:
  /// Waits for a cluster that elects a leader, for `patience` at most.
  /// @param functions whose items are fetched, one at least
  /// @param handler called on a thread of the client's
  /// @throws error no_server, refused, engine_failed, too_few_servers
  nats_source(connection& c, const std::vector<detail::function_key>& functions,
              std::chrono::milliseconds lease, control_handler handler);
  ~nats_source() override;

  std::vector<leased_work> fetch(std::size_t most, std::stop_token stop) override;
  void keep_alive(const std::string& token) override;
  void complete(std::span<const completed_work> work) override;
  std::string shared(const detail::shared_input& what) override;

  std::chrono::milliseconds lease() const override {
    return lease_;
  }

private:
  void make_consumers(clock::time_point until = {});
  static void all_told(void* self);
  static void told(natsConnection* c, natsSubscription* s, natsMsg* m, void* self);

  connection& connection_;
  const std::vector<detail::function_key> functions_;
  const std::chrono::milliseconds wanted_lease_;
  std::chrono::milliseconds lease_;
  std::vector<std::unique_ptr<pull>> pulls_; ///< one a function
  std::size_t turn_ = 0;                     ///< index in `pulls_` that is asked next
  const control_handler handler_;
  std::promise<void> all_told_; ///< no call of told() is under way, nor comes another one
  subscription control_;
};

} // namespace basal::cluster::nats
