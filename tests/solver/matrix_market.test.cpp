#include <basal/solver/errors.hpp>
#include <basal/solver/matrix_market.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <sstream>

using namespace basal::solver;

namespace {

csr_matrix<double> read(const std::string& text, matrix_market_options options = {}) {
  std::istringstream in{text};
  options.file_name = "a.mtx";
  return read_matrix_market<double>(in, options);
}

std::vector<double> read_vector(const std::string& text) {
  std::istringstream in{text};
  return read_matrix_market_vector<double>(in, {.file_name = "b.mtx"});
}

std::string complaint(const std::string& text, matrix_market_options options = {}) {
  try {
    read(text, std::move(options));
  } catch (const error& e) {
    return std::string{to_string(e.code())} + " " + e.what();
  }
  return "none";
}

std::vector<double> values(const csr_matrix<double>& a) {
  return {a.values().begin(), a.values().end()};
}

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

} // namespace

TEST_CASE("a general matrix, with comments, blank lines, tabs and carriage returns") {
  const auto a = read("%%MatrixMarket Matrix Coordinate Real General\r\n"
                      "% a comment\n\n  % another\n"
                      "3 4 3\n"
                      "3\t4 \t1.5e1\r\n\n"
                      "% in the middle\n"
                      "  1 1 +2\n"
                      "2 3 -.25"); // without a newline at the end
  CHECK(a.rows() == 3);
  CHECK(a.columns() == 4);
  CHECK(values(a) == std::vector<double>{2, -0.25, 15});
  CHECK(std::ranges::equal(a.column_indices(), std::vector<index_type>{0, 2, 3}));
}

TEST_CASE("symmetric, skew-symmetric, integer and pattern matrices") {
  CHECK(values(read("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 3\n2 1 -4\n"))
        == std::vector<double>{3, -4, -4});
  CHECK(values(read("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n"))
        == std::vector<double>{-7, 7});
  CHECK(values(read("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n"))
        == std::vector<double>{1, 1});
}

TEST_CASE("repeated entries are added up, and tiny numbers are 0") {
  CHECK(values(read(general + "1 1 3\n1 1 1\n1 1 2\n1 1 1e-999\n")) == std::vector<double>{3});
}

TEST_CASE("vectors, dense and sparse") {
  CHECK(read_vector("%%MatrixMarket matrix array real general\n3 1\n1\n2\n-3e0\n")
        == std::vector<double>{1, 2, -3});
  CHECK(read_vector(general + "3 1 1\n2 1 5\n") == std::vector<double>{0, 5, 0});
  CHECK_THROWS_WITH(read_vector(general + "3 2 1\n2 1 5\n"), ContainsSubstring("a vector"));
}

TEST_CASE("complaints name file, line, what was found and what was expected") {
  CHECK(complaint("")
        == "bad_file a.mtx:1: the file is empty; expected '%%MatrixMarket matrix ...'");
  CHECK(complaint("hello\n") == "bad_file a.mtx:1: 'hello' where '%%MatrixMarket' was expected");
  CHECK_THAT(complaint("%%MatrixMarket matrix coordinate complex general\n1 1 0\n"),
             ContainsSubstring("a.mtx:1: 'complex' where 'real', 'integer' or 'pattern'"));
  CHECK_THAT(complaint("%%MatrixMarket matrix array real general\n1 1\n1\n"),
             ContainsSubstring("'coordinate'"));
  CHECK_THAT(complaint("%%MatrixMarket matrix coordinate real hermitian\n"),
             ContainsSubstring("'hermitian'"));
  CHECK_THAT(complaint("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n"),
             ContainsSubstring("not square"));
  CHECK_THAT(complaint("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 5\n"),
             ContainsSubstring("a.mtx:3: an entry above the diagonal"));
  CHECK_THAT(complaint("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 5\n"),
             ContainsSubstring("diagonal"));
  CHECK_THAT(complaint("%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 0\n"),
             ContainsSubstring("'pattern'"));
  CHECK_THAT(complaint(general), ContainsSubstring("before the size line"));
  CHECK_THAT(complaint(general + "2 2\n"),
             ContainsSubstring("a.mtx:2: the line ends where the number of entries"));
  CHECK_THAT(complaint(general + "-2 2 1\n"), ContainsSubstring("the number of rows"));
  CHECK_THAT(complaint(general + "2 2 -5\n"), ContainsSubstring("-5 where the number of entries"));
  CHECK_THAT(complaint(general + "2 2 1 9\n"), ContainsSubstring("'9' after the size"));
  CHECK_THAT(complaint(general + "2 2 2\n1 1 1\n"),
             ContainsSubstring("a.mtx:4: the file ends after 1 of 2 entries"));
  CHECK_THAT(complaint(general + "2 2 1\n1 1 1\n2 2 2\n"),
             ContainsSubstring("a.mtx:4: more than the 1 entries"));
  CHECK_THAT(complaint(general + "2 2 1\n0 1 1\n"),
             ContainsSubstring("a.mtx:3: 0 where a row from 1 to 2 was expected"));
  CHECK_THAT(complaint(general + "2 2 1\n1 3 1\n"), ContainsSubstring("a column from 1 to 2"));
  CHECK_THAT(complaint(general + "2 2 1\n1 x 1\n"), ContainsSubstring("'x' where a column"));
  CHECK_THAT(complaint(general + "2 2 1\n1 1 1,5\n"), ContainsSubstring("'1,5' where a number"));
  CHECK_THAT(complaint(general + "2 2 1\n1 1 nan\n"), ContainsSubstring("a finite number"));
  CHECK_THAT(complaint(general + "2 2 1\n1 1 -inf\n"), ContainsSubstring("a finite number"));
  CHECK_THAT(complaint(general + "2 2 1\n1 1 1e999\n"), ContainsSubstring("too large"));
  CHECK_THAT(complaint(general + "2 2 1\n1 1\n"),
             ContainsSubstring("the line ends where a number"));
  CHECK_THAT(complaint(general + "2 2 1\n1 1 1 1\n"), ContainsSubstring("'1' after the entry"));
  CHECK_THAT(complaint(general + "99999999999999999999 2 1\n"),
             ContainsSubstring("where the number of rows"));
  CHECK_THAT(complaint("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n"),
             ContainsSubstring("'1.5' where an integer"));
  CHECK_THAT(complaint(general + "1 1 2\n1 1 1e308\n1 1 1e308\n"), ContainsSubstring("bad_file"));
  CHECK_THAT(complaint(std::string(70'000, 'x')), ContainsSubstring("more than 65536 characters"));
  CHECK_THAT(complaint(std::string("\x01\x7f\n")), ContainsSubstring("'?"
                                                                     "?'"));
}

TEST_CASE("what a header claims is checked before it costs memory") {
  CHECK_THAT(complaint(general + "2000000000 2000000000 1\n1 1 1\n"),
             ContainsSubstring("too_large a.mtx:2: 2000000000 for the number of rows"));
  CHECK_THAT(complaint(general + "100000 100000 3000000000\n"), ContainsSubstring("too_large"));
  // Promised and not delivered: fails at the end of the file, having reserved little.
  CHECK_THAT(complaint(general + "100000 100000 90000000\n1 1 1\n"),
             ContainsSubstring("promises 90000000 entries, for which the file is too short"));
  matrix_market_options small;
  small.limits = {.max_rows = 10, .max_entries = 3};
  CHECK_THAT(complaint(general + "11 1 1\n", small), ContainsSubstring("at most 10"));
  CHECK_THAT(complaint(general + "4 4 4\n", small), ContainsSubstring("at most 3"));
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  CHECK_THAT(complaint(symmetric + "4 4 2\n2 1 1\n3 1 1\n", small),
             ContainsSubstring("a.mtx:4: more than 3 entries with both halves"));
}

TEST_CASE("progress is told, and may end the reading") {
  std::vector<std::int64_t> seen;
  matrix_market_options o;
  o.progress = [&](std::int64_t read, std::int64_t promised) {
    CHECK(promised == 2);
    seen.push_back(read);
  };
  read(general + "2 2 2\n1 1 1\n2 2 2\n", o);
  CHECK(seen == std::vector<std::int64_t>{2});
  o.progress = [](std::int64_t, std::int64_t) { throw std::runtime_error{"enough"}; };
  CHECK_THROWS_WITH(read(general + "1 1 1\n1 1 1\n", o), "enough");
}

TEST_CASE("a file that cannot be opened is named") {
  CHECK_THROWS_WITH(read_matrix_market<double>(std::string{"/nonexistent/a.mtx"}),
                    ContainsSubstring("/nonexistent/a.mtx: cannot be opened"));
}

// A file of 60 bytes took 865 MB.
TEST_CASE("what a size line claims takes no memory before there are entries for it") {
  CHECK_THAT(complaint(general + "10000000 10000000 1\n1 1 1\n"),
             ContainsSubstring("too_large a.mtx:2")
               && ContainsSubstring("almost nothing but empty rows"));
  CHECK_THAT(complaint(general + "3 10000000 1\n1 1 1\n"), ContainsSubstring("too_large a.mtx:2"));
  CHECK_THAT(complaint(general + "9000 9000 50000000\n1 1 1\n"),
             ContainsSubstring("bad_file a.mtx:2")
               && ContainsSubstring("promises 50000000 entries, for which the file is too short: "
                                    "it has 6 bytes more"));
  // Limits are knobs, and as many empty rows as that are no claim yet.
  CHECK(complaint(general + "65536 65536 1\n1 1 1\n") == "none");
  CHECK(complaint(general + "100000 2 1\n1 1 1\n", {.limits = {.free_rows = 100'000}}) == "none");
  CHECK(complaint("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2") == "none");
  std::string sparse = general + "100000 100000 6250\n";
  for (int k = 1; k <= 6250; ++k)
    sparse += std::to_string(16 * k) + " " + std::to_string(k) + " 1\n";
  CHECK(complaint(sparse) == "none");
}

TEST_CASE("a stream that cannot tell its length is read to its end") {
  struct pipe final : std::streambuf {
    explicit pipe(std::string t) : text(std::move(t)) {
      setg(text.data(), text.data(), text.data() + text.size());
    }
    std::string text;
  } buffer{general + "3 3 5\n1 1 1\n"};
  std::istream in{&buffer};
  CHECK_THROWS_WITH(read_matrix_market<double>(in), ContainsSubstring("ends after 1 of 5 entries"));
}
