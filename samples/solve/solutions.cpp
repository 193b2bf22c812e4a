#include "solutions.hpp"

#include <array>
#include <charconv>

#include "common/printable.hpp"

namespace solve {

void solutions::begin(std::size_t rows, std::size_t columns, const std::string& of) {
  file_.write("%%MatrixMarket matrix array real general\n% x of A x = b, A from "
              + samples::printable(of) + "\n" + std::to_string(rows) + " " + std::to_string(columns)
              + "\n");
}

void solutions::add(const std::vector<double>& x) {
  std::array<char, 32> text{}; // the shortest that is read as the same number; 24 at most
  for (const double v : x) {
    auto* end = std::to_chars(text.data(), text.data() + text.size() - 1, v).ptr;
    *end++ = '\n';
    file_.write({text.data(), static_cast<std::size_t>(end - text.data())});
  }
}

} // namespace solve
