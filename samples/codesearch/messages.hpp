#pragma once

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "events.hpp"
#include "file_reader.hpp"
#include "pure_functions.hpp"
#include "query.hpp"
#include "skips.hpp"
#include "text_batch.hpp"
#include "walker.hpp"

namespace codesearch {

// Messages between the actors. All in one process: big things travel as pointers, and the sender of
// a pointer that is not to const gives its object away.

/// Walker to itself: list some more.
struct list_more {};

/// Walker to index.
struct files_listed {
  std::shared_ptr<std::vector<found_file>> files;
  std::shared_ptr<const skip_log> skips; ///< those since the last message
  std::uint64_t folders = 0;             ///< so far
  bool last = false;
};

/// One turn of a reader: a task and a buffer to read into.
struct read_job {
  read_task task;        ///< the rest of it comes back
  std::size_t limit = 0; ///< bytes to read at most
  text_batch batch;
  skip_log skips;
  std::uint64_t files = 0; ///< done in this turn: read or skipped
};

/// Index to reader: do it, and send it back.
struct read_request {
  std::shared_ptr<read_job> job;
};

/// Reader to index.
struct read_done {
  std::shared_ptr<read_job> job;
};

/// Index to worker.
struct build_request {
  std::shared_ptr<read_job> job;
};

struct merge_request {
  std::vector<segment_ptr> segments;
};

struct rank_request {
  std::vector<segment_ptr> segments;
};

/// Worker to index. `result` is null if the index is being stopped.
struct build_done {
  std::shared_ptr<read_job> job;
  segment_ptr result;
};

struct merge_done {
  std::vector<segment_ptr> merged; ///< to be replaced by `result`
  segment_ptr result;
};

struct rank_done {
  std::shared_ptr<const ranking> result;
};

/// Searcher to index, which replies with the state of the index.
struct state_request {};

struct index_state {
  std::uint64_t version = 0; ///< changes with `segments`
  std::vector<segment_ptr> segments;
  std::shared_ptr<const ranking> ranks; ///< null at first
  bool complete = false;
};

/// To the searcher, from whoever asks.
struct search_request {
  query asked;
  std::size_t top = 0;
  std::function<void(event)> deliver; ///< gets the answer, or why there is none, on any thread
};

} // namespace codesearch

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::list_more)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::files_listed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::read_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::read_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::build_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::merge_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::rank_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::build_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::merge_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::rank_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::state_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::index_state)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(codesearch::search_request)
