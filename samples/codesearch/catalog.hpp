#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "segment.hpp"

namespace codesearch {

using segment_ptr = std::shared_ptr<const segment>;

/// The files of some segments, by number. Numbers here are dense: 0 to `size()` less one, in the
/// order of the walk. Keeps the segments alive. Immutable; any number of threads may read it.
class catalog {
public:
  catalog() = default;

  /// Linear in the number of file parts.
  explicit catalog(std::vector<segment_ptr> segments);

  /// Number of files.
  [[nodiscard]] std::size_t size() const noexcept {
    return starts_.empty() ? 0 : starts_.size() - 1;
  }

  /// The parts of file `index`, in the order of the text; at least one.
  [[nodiscard]] std::span<const file_part* const> parts(std::size_t index) const noexcept {
    return std::span(parts_).subspan(starts_[index], starts_[index + 1] - starts_[index]);
  }

  [[nodiscard]] const std::string& path(std::size_t index) const noexcept {
    return parts_[starts_[index]]->path;
  }

  /// The number here of a file that is in one of the segments.
  [[nodiscard]] std::size_t index_of(file_id file) const noexcept {
    return index_of_id_[file];
  }

  [[nodiscard]] const std::vector<segment_ptr>& segments() const noexcept {
    return segments_;
  }

private:
  std::vector<segment_ptr> segments_;
  std::vector<const file_part*> parts_; // by file, then by offset
  std::vector<std::size_t> starts_;     // of each file in parts_, and the end
  std::vector<std::uint32_t> index_of_id_;
};

} // namespace codesearch
