/// A coordinator's side of NATS JetStream.
#pragma once

#include <basal/cluster/detail/item_queue.hpp>

#include "connection.hpp"

namespace basal::cluster::nats {

class nats_queue final : public detail::item_queue {
public:
  /// Takes back what an earlier run of the batch has left. Waits for a cluster that elects a
  /// leader, for `patience` at most.
  /// @throws error no_server, refused, engine_failed, too_few_servers
  nats_queue(connection& c, const detail::function_key& function, detail::batch_id id);

  detail::shared_input share(std::string_view bytes) override;
  void post(std::span<const std::string> messages) override;
  std::vector<detail::arrival> receive(std::size_t most, std::chrono::milliseconds wait) override;
  void settle(std::span<const detail::arrival> results) override;
  std::size_t outstanding() override;
  void tell(const detail::control_message& what) override;
  std::vector<detail::worker_info> workers() override;
  void withdraw() override;
  std::size_t max_message_bytes() const override;

private:
  void make_consumer(clock::time_point until = {});
  void store_shared();
  template <class Attempt>
  void until_stored(Attempt attempt);

  connection& connection_;
  const std::string items_subject_;
  const std::string results_subject_;
  const std::string consumer_;
  pull results_;
  detail::shared_input shared_;
  std::string_view shared_bytes_;
  std::uint64_t posted_ = 0;
  const std::string run_; ///< sets this run's message ids apart from those of an earlier one
};

} // namespace basal::cluster::nats
