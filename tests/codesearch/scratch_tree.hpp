#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <stdlib.h>

namespace codesearch::test {

/// A folder of its own for a test, removed with everything in it at the end.
class scratch_tree {
public:
  scratch_tree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "codesearch-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot create a folder like " + pattern);
    }
    root_ = pattern;
  }

  ~scratch_tree() {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
           root_, std::filesystem::directory_options::skip_permission_denied, ignored)) {
      if (!entry.is_symlink()) {
        std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all,
                                     std::filesystem::perm_options::add, ignored);
      }
    }
    std::filesystem::remove_all(root_, ignored);
  }

  scratch_tree(const scratch_tree&) = delete;
  scratch_tree& operator=(const scratch_tree&) = delete;

  [[nodiscard]] std::string path(std::string_view name = {}) const {
    return name.empty() ? root_.string() : (root_ / name).string();
  }

  /// Writes a file, and the folders on the way to it; returns its path.
  std::string write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = root_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush()) {
      throw std::runtime_error("cannot write " + file.string());
    }
    return file.string();
  }

private:
  std::filesystem::path root_;
};

} // namespace codesearch::test
