/// The coordinator's side of the engine; work_source is the workers'.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <basal/cluster/detail/message.hpp>

namespace basal::cluster::detail {

/// A result message, which the engine keeps until it is settled.
struct arrival {
  std::string token;
  std::string message;
};

/// The items and results of one batch. One thread at a time.
class item_queue {
public:
  virtual ~item_queue() = default;

  /// Puts what all items share where workers find it, unless it is there. The bytes must outlive
  /// the queue, which puts them there again if the engine has lost them.
  /// @throws error no_server, engine_failed
  virtual shared_input share(std::string_view bytes) = 0;

  /// Hands messages to the engine; they are stored when it returns.
  /// @throws error no_server, engine_failed
  virtual void post(std::span<const std::string> messages) = 0;

  /// Waits for results. @returns none after `wait`
  virtual std::vector<arrival> receive(std::size_t most, std::chrono::milliseconds wait) = 0;

  /// The results are in the journal: the engine may forget them.
  virtual void settle(std::span<const arrival> results) = 0;

  /// Posted messages that are not done: those that wait and those that workers have. 0 where the
  /// engine has lost them.
  virtual std::size_t outstanding() = 0;

  /// Tells all workers something that concerns this batch.
  virtual void tell(const control_message& what) = 0;

  /// The workers that answer at the moment.
  virtual std::vector<worker_info> workers() = 0;

  /// Takes back the posted messages that are not done.
  virtual void withdraw() = 0;

  /// The largest message, in bytes.
  virtual std::size_t max_message_bytes() const = 0;
};

} // namespace basal::cluster::detail
