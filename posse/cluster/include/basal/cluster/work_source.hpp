/// The seam between a worker and the engine that hands out work: fetch, keep alive, complete; and
/// what the items of a batch share.
///
/// An engine promises that a message which was handed out and is neither completed nor kept alive
/// for lease() is handed out again, to anybody. It may hand out a message twice for other reasons,
/// and in any order: results are compared, not trusted to be alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <basal/cluster/detail/message.hpp>

namespace basal::cluster {

/// A message that this worker has taken.
struct leased_work {
  std::string token;            ///< how the engine calls it
  std::uint32_t deliveries = 1; ///< how often it was handed out, this time included
  std::string message;          ///< posted by the coordinator
};

/// Leased work that is done, or given back.
struct completed_work {
  std::string token; ///< that of the leased work
  /// None: the message goes back to the engine, for others. Empty: nobody waits for an answer.
  std::optional<std::string> result;
};

/// Members may be called from different threads at the same time, each from one at a time.
class work_source {
public:
  virtual ~work_source() = default;

  /// Waits for work.
  /// @returns 1 to `most` messages; none if a stop was requested
  /// @throws error no_server, engine_failed
  virtual std::vector<leased_work> fetch(std::size_t most, std::stop_token stop) = 0;

  /// Another lease() from now on. Does not wait; a message that was lost meanwhile is no error.
  virtual void keep_alive(const std::string& token) = 0;

  /// Stores the results in the engine and then, never before, tells it that the messages are done.
  /// A group at a time, since an engine that stores safely takes as long for a group as for one.
  /// @throws error no_server, engine_failed: then all of them may be completed again
  virtual void complete(std::span<const completed_work> work) = 0;

  /// The bytes that the items of a batch share.
  /// @throws error no_server, engine_failed, damaged: bytes of another hash
  virtual std::string shared(const detail::shared_input& what) = 0;

  /// How long a message stays with a worker that says nothing.
  virtual std::chrono::milliseconds lease() const = 0;
};

} // namespace basal::cluster
