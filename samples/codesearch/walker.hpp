#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "posting.hpp"
#include "skips.hpp"

namespace codesearch {

/// A regular file that the walk found.
struct found_file {
  file_id id = 0;
  std::string path;
  std::uint64_t bytes = 0; ///< its size when the walk saw it
};

/// A path that cannot be indexed at all.
struct bad_root {
  std::string path;
  std::string message; ///< cause and remedy
};

/// The rest of `paths` without trailing slashes, repetitions and paths inside of others, so that no
/// file is indexed twice; in the order given. Paths that do not exist go to `bad`.
[[nodiscard]] std::vector<std::string> distinct_roots(const std::vector<std::string>& paths,
                                                      std::vector<bad_root>& bad);

/// Lists the regular files below some paths, in steps, so that its owner can do other things in
/// between. A path may name a file. Symbolic links are followed where they are given as a path and
/// nowhere else, so loops of links end no walk. The order is the file system's, depth first, and
/// the same for the same tree. One owner, no locks; may block on the file system.
class tree_walker {
public:
  explicit tree_walker(std::vector<std::string> roots);

  /// Appends the files of at least one more folder to `out`, and goes on until `files` more are
  /// there. False when the walk is at its end.
  bool step(std::size_t files, std::vector<found_file>& out);

  /// Paths that could not be listed so far; the caller may take them.
  [[nodiscard]] skip_log& skips() noexcept {
    return skips_;
  }

  /// Folders listed so far.
  [[nodiscard]] std::uint64_t folders() const noexcept {
    return folders_;
  }

private:
  void open_root(std::string path, std::vector<found_file>& out);
  void list_folder(const std::string& folder, std::vector<found_file>& out);
  void add_file(std::string path, std::uint64_t bytes, std::vector<found_file>& out);

  std::vector<std::string> roots_;           // the next one last
  std::vector<std::string> folders_to_list_; // the next one last
  skip_log skips_;
  file_id next_id_ = 0;
  std::uint64_t folders_ = 0;
};

} // namespace codesearch
