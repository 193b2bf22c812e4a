#pragma once

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>

namespace basal::test {

/// A folder that goes with the test.
class folder {
public:
  folder() {
    auto name = (std::filesystem::temp_directory_path() / "basal-cluster-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~folder() {
    std::filesystem::remove_all(path_);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  const std::filesystem::path& path() const {
    return path_;
  }

  std::filesystem::path file() const {
    return path_ / "batch.journal";
  }

private:
  std::filesystem::path path_;
};

} // namespace basal::test
