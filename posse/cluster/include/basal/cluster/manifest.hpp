/// Facts about a finished batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace basal::cluster {

/// Every item of a batch ends as one of `results` or as one of `poisoned`.
struct manifest {
  /// An item that has no result.
  struct poison {
    std::uint64_t item; ///< its index in the batch
    std::string reason; ///< a sentence: what the last try ended by
  };

  std::uint64_t items = 0;        ///< that the batch has
  std::uint64_t results = 0;      ///< of these: that have a result
  std::uint64_t resumed = 0;      ///< of the results: that the journal had when the batch began
  std::uint64_t duplicates = 0;   ///< further results of an item, equal to the first bit for bit
  std::uint64_t mismatches = 0;   ///< results that differed from another one of their item
  std::uint64_t corrected = 0;    ///< delivered results that were wrong, and were delivered again
  std::uint64_t checked = 0;      ///< results that this process computed once more
  std::uint64_t redeliveries = 0; ///< results of messages that had been handed out before
  std::uint64_t reposted = 0;     ///< items posted again: they had failed, or the engine lost them
  double seconds = 0;             ///< that workers computed
  double seconds_lost = 0;        ///< of these: for duplicates, mismatches and failures

  /// The items without a result.
  std::vector<poison> poisoned;
  std::vector<std::string> quarantined; ///< workers

  /// "100 of 100 items have results; 2 duplicates, 0 mismatches, ..." in one line.
  std::string text() const;
};

} // namespace basal::cluster
