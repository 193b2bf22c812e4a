#include "catalog.hpp"

#include <algorithm>
#include <utility>

namespace codesearch {

catalog::catalog(std::vector<segment_ptr> segments) : segments_(std::move(segments)) {
  for (const segment_ptr& s : segments_) {
    for (const auto& part : s->parts) {
      parts_.push_back(part.get());
    }
  }
  std::sort(parts_.begin(), parts_.end(), [](const file_part* a, const file_part* b) {
    return a->file != b->file ? a->file < b->file : a->offset < b->offset;
  });
  index_of_id_.resize(parts_.empty() ? 0 : parts_.back()->file + std::size_t{1});
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (i == 0 || parts_[i]->file != parts_[i - 1]->file) {
      index_of_id_[parts_[i]->file] = static_cast<std::uint32_t>(starts_.size());
      starts_.push_back(i);
    }
  }
  if (!parts_.empty()) {
    starts_.push_back(parts_.size());
  }
}

} // namespace codesearch
