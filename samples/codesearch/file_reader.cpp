#include "file_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>

namespace codesearch {

namespace {

// The part of a file that decides whether it is binary.
constexpr std::size_t probed_bytes = 8192;

bool is_binary(std::string_view start) {
  return std::memchr(start.data(), 0, std::min(start.size(), probed_bytes)) != nullptr;
}

// Reads until `bytes` are there or the file ends; below zero is a negative errno. A read that ends
// exactly at `likely_end` is believed to have met the end, which saves most files a second one.
::ssize_t read_fully(int fd, char* to, std::size_t bytes, std::size_t likely_end) {
  std::size_t done = 0;
  while (done < bytes) {
    const ::ssize_t got = ::read(fd, to + done, bytes - done);
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      return -errno;
    }
    done += static_cast<std::size_t>(got);
    if (got == 0 || done == likely_end) {
      break;
    }
  }
  return static_cast<::ssize_t>(done);
}

void pad(char* end) {
  std::memset(end, 0, text_padding);
}

// Position of the cut in a text that goes on: behind its last newline, or, if more than half would
// then be carried over, behind its last separator; 0 if it is one single run of word bytes.
std::size_t last_cut(std::string_view text) {
  const auto newline = text.rfind('\n');
  if (newline != text.npos && newline >= text.size() / 2) {
    return newline + 1;
  }
  std::size_t cut = text.size();
  while (cut > 0 && is_word_byte(text[cut - 1])) {
    --cut;
  }
  return cut;
}

// Opens a file that the walk saw as a regular one. O_NONBLOCK keeps a pipe that took its place
// from blocking the reader; it has no effect on regular files.
descriptor open_file(const found_file& file) {
  return descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

// Reads one small file to `to`, where `file.bytes + 1 + text_padding` bytes are free. True if a
// piece was appended.
bool read_small(found_file& file, char* to, text_batch& batch, skip_log& skips) {
  const descriptor fd = open_file(file);
  if (!fd) {
    skips.add_error(errno, std::move(file.path));
    return false;
  }
  // One byte more than expected tells whether the file grew, without a stat.
  const ::ssize_t got = read_fully(fd.get(), to, file.bytes + 1, file.bytes);
  if (got < 0) {
    skips.add_error(static_cast<int>(-got), std::move(file.path));
    return false;
  }
  std::string_view text(to, static_cast<std::size_t>(got));
  if (is_binary(text)) {
    skips.add(skip_reason::binary, std::move(file.path));
    return false;
  }
  if (text.size() > file.bytes) {
    skips.add(skip_reason::grew, file.path);
    text.remove_suffix(1);
  }
  pad(to + text.size());
  batch.bytes += text.size();
  batch.pieces.push_back({file.id, std::move(file.path), 0, 1, false, text});
  return true;
}

} // namespace

bool large_file::read(text_buffer& buffer, text_batch& batch, skip_log& skips) {
  char* const start = buffer.data();
  std::memcpy(start, carry_.data(), carry_.size());
  const std::uint64_t left = file_.bytes - read_bytes_;
  const auto wanted = static_cast<std::size_t>(
    std::min<std::uint64_t>(left, buffer.size() - text_padding - carry_.size()));
  const ::ssize_t got = read_fully(fd_.get(), start + carry_.size(), wanted, wanted);
  if (got < 0) {
    skips.add_error(static_cast<int>(-got), file_.path);
    batch.skipped_bytes += left;
    return false;
  }
  const bool first = read_bytes_ == 0;
  const std::uint64_t offset = read_bytes_ - carry_.size();
  read_bytes_ += static_cast<std::uint64_t>(got);
  std::string_view text(start, carry_.size() + static_cast<std::size_t>(got));
  if (first && is_binary(text)) {
    skips.add(skip_reason::binary, file_.path);
    batch.skipped_bytes += file_.bytes;
    return false;
  }
  const bool last = static_cast<std::size_t>(got) < wanted || read_bytes_ == file_.bytes;
  carry_.clear();
  bool ends_in_word = false;
  if (last) {
    char more;
    if (read_bytes_ == file_.bytes && read_fully(fd_.get(), &more, 1, 1) > 0) {
      skips.add(skip_reason::grew, file_.path);
    }
  } else if (const std::size_t cut = last_cut(text); cut > 0) {
    carry_ = text.substr(cut);
    text = text.substr(0, cut);
  } else {
    ends_in_word = true;
  }
  pad(start + text.size());
  batch.bytes += text.size();
  batch.pieces.push_back({file_.id, file_.path, offset, next_line_, mid_word_, text});
  next_line_ += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  mid_word_ = ends_in_word;
  return !last;
}

void read_files(read_task& task, std::size_t limit, text_batch& batch, skip_log& skips,
                const stop_flag& stop) {
  text_buffer& buffer = *batch.buffer;
  limit = std::min(limit, buffer.size());
  std::size_t used = 0;
  while (!task.done() && !stop.load(std::memory_order_relaxed)) {
    if (task.open) {
      if (used > 0) {
        return; // pieces of large files take a whole buffer
      }
      if (!task.open->read(buffer, batch, skips)) {
        task.open.reset();
      }
      if (!batch.pieces.empty()) {
        return;
      }
      continue;
    }
    found_file& file = task.files[task.next];
    const std::uint64_t needed = file.bytes + 1 + text_padding;
    if (needed > buffer.size()) {
      if (descriptor fd = open_file(file)) {
        task.open = std::make_shared<large_file>(std::move(fd), std::move(file));
      } else {
        skips.add_error(errno, std::move(file.path));
        batch.skipped_bytes += file.bytes;
      }
      ++task.next;
      continue;
    }
    if (used > 0 && used + needed > limit) {
      return;
    }
    if (read_small(file, buffer.data() + used, batch, skips)) {
      used += batch.pieces.back().text.size() + text_padding;
    } else {
      batch.skipped_bytes += file.bytes;
    }
    ++task.next;
  }
}

} // namespace codesearch
