#pragma once

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>

#include "support/catch.hpp"

/// A machine's /proc and /sys with what a test says.
class fake_machine {
public:
  fake_machine() : root("/tmp/basal-machine-XXXXXX") {
    REQUIRE(mkdtemp(root.data()) != nullptr);
  }

  ~fake_machine() {
    std::filesystem::remove_all(root);
  }

  fake_machine(const fake_machine&) = delete;
  fake_machine& operator=(const fake_machine&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path{root + path}.parent_path());
    std::ofstream{root + path} << text;
  }

  std::string root;
};
