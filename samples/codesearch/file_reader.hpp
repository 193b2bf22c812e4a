#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "build.hpp"
#include "descriptor.hpp"
#include "skips.hpp"
#include "text_batch.hpp"
#include "walker.hpp"

namespace codesearch {

/// A file too large for one buffer, read piece by piece. Remembers where it stands; what lies
/// behind the last cut waits in `carry_` for the next piece. One owner, no locks.
class large_file {
public:
  large_file(descriptor fd, found_file file) : fd_(std::move(fd)), file_(std::move(file)) {
  }

  /// Reads into all of `buffer` and appends one piece to `batch`. False when that was the last
  /// one or there is none, as after an error, which goes to `skips`.
  bool read(text_buffer& buffer, text_batch& batch, skip_log& skips);

private:
  descriptor fd_;
  found_file file_;
  std::uint64_t read_bytes_ = 0; // of the file, so far
  std::uint64_t next_line_ = 1;
  bool mid_word_ = false;
  std::string carry_;
};

/// Files that wait to be read: in order, the first one possibly half read.
struct read_task {
  std::vector<found_file> files;
  std::size_t next = 0;             ///< index into `files`
  std::shared_ptr<large_file> open; ///< to be finished before `files[next]`

  [[nodiscard]] bool done() const noexcept {
    return !open && next == files.size();
  }
};

/// Reads as many files of `task` as fit into `limit` bytes of the buffer of `batch` and appends
/// their pieces; at least one file or one piece of a large one, unless the task is done or `stop`
/// is raised. May block on the file system. Files are read, never mapped: a file that shrinks
/// under a mapping would kill the process.
///
/// Skipped, with the reason in `skips`: what cannot be read, and files with a zero byte in their
/// first 8 KiB, which is what `grep -I` calls binary. A file that grew is read up to the size that
/// the walk saw.
void read_files(read_task& task, std::size_t limit, text_batch& batch, skip_log& skips,
                const stop_flag& stop);

} // namespace codesearch
