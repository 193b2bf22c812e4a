#pragma once

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "context.hpp"
#include "messages.hpp"

namespace codesearch {

/// The actor that owns the index: a list of segments that are merged as they come, down to one
/// when the walk is done. Hands out the work, so that all bounds are in one place:
///
/// - a reader reads only into one of a fixed number of buffers, which comes back when its text is
///   indexed: texts in memory are bounded, and readers wait when the workers are behind;
/// - a worker has one job at a time, in this order: a due merge, a text, any merge, ranking;
/// - small segments are merged while texts are indexed, so queries look at few segments.
///
/// Posts the summary when the index is complete. Spawns and links its helpers: its end is theirs.
class index_owner {
public:
  static inline const char* name = "index";

  explicit index_owner(caf::stateful_actor<index_owner>* self) noexcept : self_(self) {
  }

  caf::behavior start(context_ptr run);

private:
  void on_files(const files_listed& list);
  void on_read(caf::actor reader, std::shared_ptr<read_job> job);
  void on_built(const build_done& done);
  void on_merged(const merge_done& done);
  void on_ranked(const rank_done& done);
  [[nodiscard]] index_state state() const;

  void hand_out_work();
  bool hand_out_read();
  bool hand_out_job();
  bool start_merge();
  bool start_ranking();
  void drop_queues();
  [[nodiscard]] bool all_indexed() const noexcept;
  void post_summary();

  caf::stateful_actor<index_owner>* self_;
  context_ptr run_;

  // Reading.
  std::deque<read_task> tasks_;
  std::vector<std::unique_ptr<text_buffer>> buffers_; // the free ones
  std::size_t read_limit_ = 0;
  std::vector<caf::actor> idle_readers_;
  std::size_t reading_ = 0;
  bool walk_done_ = false;

  // Computing.
  std::deque<std::shared_ptr<read_job>> texts_;
  std::vector<caf::actor> idle_workers_;
  std::size_t building_ = 0;
  std::size_t merging_ = 0; // merges under way
  bool ranking_ = false;
  bool ranking_is_last_ = false; // the one under way, or the latest
  std::uint64_t files_at_last_ranking_ = 0;

  // The index.
  std::vector<segment_ptr> segments_; // not being merged
  std::vector<segment_ptr> in_merge_; // still to be searched until replaced
  std::uint64_t version_ = 0;
  std::shared_ptr<const ranking> ranks_;
  bool ranks_are_final_ = false;
  bool complete_ = false;
  index_summary summary_;
};

/// See index_owner.
caf::behavior index_actor(caf::stateful_actor<index_owner>* self, context_ptr run);

} // namespace codesearch
