#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "output_file.hpp"

namespace solve {

/// Solutions as a Matrix Market array, one column each, with as many digits as give the same
/// numbers again. One thread.
class solutions {
public:
  /// @throws as output_file
  explicit solutions(const std::string& path) : file_("the solution", path) {
  }

  void begin(std::size_t rows, std::size_t columns, const std::string& of);

  void add(const std::vector<double>& x);

  void commit() {
    file_.commit();
  }

private:
  output_file file_;
};

} // namespace solve
