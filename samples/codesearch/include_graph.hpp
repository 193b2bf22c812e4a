#pragma once

#include <basal/posse/member.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "build.hpp"
#include "catalog.hpp"

namespace codesearch {

/// Which file includes which, over the numbers of a catalog. Each edge once, none to itself.
class include_graph {
public:
  using edge = std::pair<std::uint32_t, std::uint32_t>; ///< includer, included

  include_graph() = default;

  /// `edges` between files below `files`, in any order, with repetitions and loops.
  include_graph(std::size_t files, std::vector<edge> edges);

  [[nodiscard]] std::size_t files() const noexcept {
    return starts_.empty() ? 0 : starts_.size() - 1;
  }

  [[nodiscard]] std::size_t edges() const noexcept {
    return targets_.size();
  }

  /// The files that `file` includes, by rising number.
  [[nodiscard]] std::span<const std::uint32_t> targets(std::size_t file) const noexcept {
    return std::span(targets_).subspan(starts_[file], starts_[file + 1] - starts_[file]);
  }

private:
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> targets_;
};

/// Number of whole path components at the end that `name` and `path` share. The file name is one
/// of them; for a module its extension in `path` does not count.
[[nodiscard]] std::size_t shared_suffix(std::string_view name, std::string_view path, bool module);

/// Resolves the names that the files include, without knowing their include paths: the file whose
/// path shares the longest suffix with the name, of those the one that shares the longest folder
/// with the includer, of those the one with the shortest path. A name with folders needs a match
/// of at least one of them beside the file name. Names that match no file add no edge. Forks by
/// file range; pure except for `stop`. Throws `stopped`.
[[nodiscard]] include_graph resolve_includes(basal::posse::member& m, const catalog& files,
                                             const stop_flag& stop);

} // namespace codesearch
