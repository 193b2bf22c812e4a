/// The owner of a batch: connects once and maps batches, one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <basal/cluster/connection.hpp>
#include <basal/cluster/manifest.hpp>
#include <basal/cluster/registry.hpp>
#include <basal/executors/placement.hpp>

namespace basal::cluster {

/// In which order results are delivered.
enum class result_order : std::uint8_t {
  as_finished, ///< without waiting for others
  by_item,     ///< an early result waits for those before it
};

/// How a batch is computed.
struct map_options {
  /// Of the function; see registry.
  std::uint32_t version = 1;

  result_order order = result_order::as_finished; ///< in which order results are delivered

  /// A file that keeps what is finished. The same batch with the same file goes on where it ended,
  /// whatever it ended by. Empty: none.
  std::filesystem::path journal = {};

  /// When a stop is requested, the batch ends with errc::cancelled.
  std::stop_token stop = {};

  /// Items that have not begun or not ended by then have no result. Workers compare with their own
  /// clocks.
  std::chrono::system_clock::time_point deadline = std::chrono::system_clock::time_point::max();

  /// Bytes that one item may use on one executor; 0: the worker's own limit.
  std::size_t memory_limit = 0;

  /// How often an item is tried that fails, or whose worker dies, before it counts as poisoned: 1
  /// to 100.
  std::uint32_t tries = 5;

  /// This process computes one in this number of results once more and compares the bits, and the
  /// first result of each worker; 1: all; 0: none. Not where everything is local.
  std::uint32_t check_one_in = 100;

  /// Messages that are posted and not answered, at most: 1 to 10,000. A slow consumer of results
  /// holds the workers up after as many.
  std::size_t window = 256;

  /// After this time without a result, and without a worker that has the function, the batch ends
  /// with no_worker.
  std::chrono::milliseconds patience = std::chrono::seconds{30};
};

/// The coordinator's way to its workers.
struct coordinator_options {
  connection_options connection = {}; ///< the engine

  /// Executors of a coordinator whose address is "local".
  std::size_t executors = executors::usable_cpus();
};

namespace detail {

/// A batch without its types.
struct batch_request {
  const registered& function;
  std::string_view shared = {}; ///< encoded; empty: the items share nothing
  std::uint64_t items;
  std::function<std::string(std::uint64_t)> item; ///< encoded
  std::function<void(std::uint64_t, std::string_view)> deliver;
  const map_options& options;
};

} // namespace detail

/// One thread at a time.
class coordinator {
public:
  /// Waits up to 30 s for a cluster that elects a leader or whose servers do not know each other
  /// yet; not for a server that does not listen.
  /// @throws error no_server, refused, bad_option, too_few_servers, engine_failed
  explicit coordinator(coordinator_options options = {});
  ~coordinator();

  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;

  /// For map().
  manifest run(const detail::batch_request& batch);

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace basal::cluster
