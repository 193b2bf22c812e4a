#include <basal/solver/matrix_market.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
#include <type_traits>

#include <basal/solver/errors.hpp>
#include <basal/solver/triplets.hpp>

#include "portable.hpp"

namespace basal::solver {

namespace {

// The format says at most 1024; some writers pad. Beyond this it is no text file.
constexpr std::size_t longest_line = 65'536;

// Memory for as many entries is nothing to be careful with.
constexpr std::int64_t free_entries = 65'536;

constexpr std::int64_t progress_interval = std::int64_t{1} << 20;

enum class field { real, integer, pattern };
enum class symmetry { general, symmetric, skew };

struct header {
  bool coordinate;
  field values;
  symmetry mirrored;
};

struct size_line {
  index_type rows;
  index_type columns;
  std::int64_t entries;
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// For error messages: short, and no control characters.
std::string quoted(std::string_view text) {
  constexpr std::size_t shown = 40;
  std::string result = "'";
  for (const char c : text.substr(0, shown))
    result += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  return result + (text.size() > shown ? "...'" : "'");
}

// Lines of a stream or of a text, without ever holding more than one of them.
class line_reader {
public:
  line_reader(std::istream& in, const std::string& name) : buffer_(in.rdbuf()), name_(name) {
  }

  line_reader(std::string_view text, const std::string& name) : text_(text), name_(name) {
  }

  // False at the end of the file.
  bool next() {
    ++number_;
    line_.clear();
    for (;;) {
      const auto c = next_character();
      if (c == std::char_traits<char>::eof()) {
        rest_ = line_;
        return !line_.empty();
      }
      if (c == '\n')
        break;
      if (line_.size() == longest_line)
        fail("a line of more than " + std::to_string(longest_line)
             + " characters; this is no Matrix Market file");
      line_.push_back(static_cast<char>(c));
    }
    rest_ = line_;
    return true;
  }

  // The next line that is neither a comment nor blank.
  bool next_content() {
    while (next()) {
      const auto word = peek();
      if (!word.empty() && word.front() != '%')
        return true;
    }
    return false;
  }

  std::string_view word() {
    const auto result = peek();
    rest_.remove_prefix(static_cast<std::size_t>(result.data() + result.size() - rest_.data()));
    return result;
  }

  void expect_end(const char* what) {
    if (const auto extra = peek(); !extra.empty())
      fail(quoted(extra) + " after " + what + ", where the line should end");
  }

  template <class Number>
  Number number(const char* what) {
    auto text = word();
    if (text.empty())
      fail(std::string{"the line ends where "} + what + " was expected");
    const auto whole = text;
    if (text.size() > 1 && text.front() == '+' && text[1] != '-')
      text.remove_prefix(1); // from_chars takes no plus
    Number result{};
    const auto [end, code] = detail::number_from(text, result);
    if (code == std::errc::result_out_of_range && std::is_floating_point_v<Number>)
      return underflow_or_fail<Number>(whole, what);
    if (code != std::errc{} || end != text.data() + text.size())
      fail(quoted(whole) + " where " + what + " was expected");
    if constexpr (std::is_floating_point_v<Number>) {
      if (!std::isfinite(result))
        fail(quoted(whole) + " where a finite number was expected");
    }
    return result;
  }

  // The rest of the stream, in bytes; nothing if the stream cannot tell, as a pipe.
  std::optional<std::int64_t> bytes_left() const {
    if (buffer_ == nullptr)
      return static_cast<std::int64_t>(text_.size());
    const auto here = buffer_->pubseekoff(0, std::ios::cur, std::ios::in);
    if (here == std::streampos{std::streamoff{-1}})
      return std::nullopt;
    const auto end = buffer_->pubseekoff(0, std::ios::end, std::ios::in);
    buffer_->pubseekpos(here, std::ios::in);
    if (end == std::streampos{std::streamoff{-1}})
      return std::nullopt;
    return static_cast<std::int64_t>(end - here);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw error{errc::bad_file, name_ + ":" + std::to_string(number_) + ": " + what};
  }

  [[noreturn]] void too_large(const std::string& what) const {
    throw error{errc::too_large, name_ + ":" + std::to_string(number_) + ": " + what};
  }

private:
  int next_character() {
    if (buffer_ != nullptr)
      return buffer_->sbumpc();
    if (text_.empty())
      return std::char_traits<char>::eof();
    const auto c = std::char_traits<char>::to_int_type(text_.front());
    text_.remove_prefix(1);
    return c;
  }

  std::string_view peek() const {
    auto from = rest_;
    while (!from.empty() && is_blank(from.front()))
      from.remove_prefix(1);
    std::size_t length = 0;
    while (length < from.size() && !is_blank(from[length]))
      ++length;
    return from.substr(0, length);
  }

  // from_chars calls 1e-400 and 1e400 out of range alike; the former is as good as 0.
  template <class Number>
  Number underflow_or_fail(std::string_view text, const char* what) const {
    const auto exponent = text.find_first_of("eE");
    if (exponent != std::string_view::npos && exponent + 1 < text.size()
        && text[exponent + 1] == '-')
      return Number{0};
    fail(quoted(text) + " where " + what + " was expected: it is too large for the number type");
  }

  std::streambuf* buffer_ = nullptr;
  std::string_view text_; // the rest of it, if there is no buffer
  const std::string& name_;
  std::string line_;
  std::string_view rest_;
  std::int64_t number_ = 0;
};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return detail::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x))
           == std::tolower(static_cast<unsigned char>(y));
  });
}

// One of some words, of which `what` tells all.
template <std::size_t Count>
std::size_t choice(line_reader& lines, const std::array<std::string_view, Count>& words,
                   const char* what) {
  const auto word = lines.word();
  for (std::size_t i = 0; i < Count; ++i) {
    if (equal_ignoring_case(word, words[i]))
      return i;
  }
  lines.fail(quoted(word) + " where " + what + " was expected");
}

header read_header(line_reader& lines) {
  if (!lines.next())
    lines.fail("the file is empty; expected '%%MatrixMarket matrix ...'");
  choice<1>(lines, {"%%MatrixMarket"}, "'%%MatrixMarket'");
  choice<1>(lines, {"matrix"}, "'matrix'");
  header h{};
  h.coordinate = choice<2>(lines, {"coordinate", "array"}, "'coordinate' or 'array'") == 0;
  h.values = std::array{field::real, field::real, field::integer, field::pattern}[choice<4>(
    lines, {"real", "double", "integer", "pattern"}, "'real', 'integer' or 'pattern'")];
  h.mirrored
    = std::array{symmetry::general, symmetry::symmetric,
                 symmetry::skew}[choice<3>(lines, {"general", "symmetric", "skew-symmetric"},
                                           "'general', 'symmetric' or 'skew-symmetric'")];
  lines.expect_end("the header");
  if (h.values == field::pattern && (!h.coordinate || h.mirrored == symmetry::skew))
    lines.fail("'pattern' goes only with 'coordinate', and not with 'skew-symmetric'");
  return h;
}

index_type dimension(line_reader& lines, const char* what, const matrix_market_limits& limits) {
  const auto n = lines.number<std::int64_t>(what);
  if (n < 0)
    lines.fail(std::to_string(n) + " where " + what + " was expected");
  if (n > limits.max_rows)
    lines.too_large(std::to_string(n) + " for " + what + ", where at most "
                    + std::to_string(limits.max_rows) + " is allowed");
  return static_cast<index_type>(n);
}

// Before memory is taken by what the size line says.
void refuse_what_cannot_be(line_reader& lines, const header& h, const size_line& size) {
  // "1 1 1.5" and a newline, of which the last line needs none; patterns and arrays have less.
  const std::int64_t shortest_line = !h.coordinate ? 2 : h.values == field::pattern ? 4 : 6;
  const auto left = lines.bytes_left();
  // Of a few entries the line that is missing tells more.
  if (left && size.entries > free_entries && size.entries > (*left + 1) / shortest_line)
    lines.fail("the size line promises " + std::to_string(size.entries)
               + " entries, for which the file is too short: it has " + std::to_string(*left)
               + " bytes more, and each entry takes at least " + std::to_string(shortest_line));
}

size_line read_size(line_reader& lines, const header& h, const matrix_market_limits& limits) {
  if (!lines.next_content())
    lines.fail("the file ends before the size line");
  size_line size{};
  size.rows = dimension(lines, "the number of rows", limits);
  size.columns = dimension(lines, "the number of columns", limits);
  size.entries = h.coordinate ? lines.number<std::int64_t>("the number of entries")
                              : std::int64_t{size.rows} * size.columns;
  lines.expect_end("the size");
  if (size.entries < 0) // more than rows times columns: some are repeated
    lines.fail(std::to_string(size.entries) + " where the number of entries was expected");
  const auto largest = std::min<std::int64_t>(limits.max_entries, 2'147'483'647);
  if (size.entries > largest)
    lines.too_large(std::to_string(size.entries) + " entries, where at most "
                    + std::to_string(largest) + " are allowed");
  if (h.mirrored != symmetry::general && size.rows != size.columns)
    lines.fail("a symmetric matrix of " + std::to_string(size.rows) + " x "
               + std::to_string(size.columns) + " is not square");
  refuse_what_cannot_be(lines, h, size);
  return size;
}

// A matrix takes memory for each row, whether it has entries or not.
void refuse_emptiness(line_reader& lines, const size_line& size,
                      const matrix_market_limits& limits) {
  const auto most = std::max<std::int64_t>(
    limits.free_rows, limits.max_rows_per_entry * std::max<std::int64_t>(size.entries, 1));
  if (const auto longer = std::max(size.rows, size.columns); longer > most)
    lines.too_large("a matrix of " + std::to_string(size.rows) + " x "
                    + std::to_string(size.columns) + " with " + std::to_string(size.entries)
                    + " entries is almost nothing but empty rows or columns; at most "
                    + std::to_string(most)
                    + " are allowed with so few entries (matrix_market_limits::free_rows, "
                      "max_rows_per_entry)");
}

// Indices in the file count from 1.
index_type coordinate(line_reader& lines, const char* what, index_type count) {
  const auto i = lines.number<std::int64_t>(what);
  if (i < 1 || i > count)
    lines.fail(std::to_string(i) + " where " + what + " from 1 to " + std::to_string(count)
               + " was expected");
  return static_cast<index_type>(i - 1);
}

template <class T>
T value(line_reader& lines, field f) {
  if (f == field::pattern)
    return T{1};
  if (f == field::integer)
    return static_cast<T>(lines.number<std::int64_t>("an integer"));
  return lines.number<T>("a number");
}

// Calls entry(row, column, value) for each line and checks that there are as many as promised.
template <class T, class Entry>
void read_entries(line_reader& lines, const header& h, const size_line& size,
                  const matrix_market_options& options, Entry entry) {
  for (std::int64_t k = 0; k < size.entries; ++k) {
    if (!lines.next_content())
      lines.fail("the file ends after " + std::to_string(k) + " of " + std::to_string(size.entries)
                 + " entries");
    index_type row = 0;
    index_type column = 0;
    if (h.coordinate) {
      row = coordinate(lines, "a row", size.rows);
      column = coordinate(lines, "a column", size.columns);
    } else {
      row = static_cast<index_type>(k % size.rows);
      column = static_cast<index_type>(k / size.rows);
    }
    const T v = value<T>(lines, h.values);
    lines.expect_end("the entry");
    entry(row, column, v);
    if (options.progress && (k + 1) % progress_interval == 0)
      options.progress(k + 1, size.entries);
  }
  if (lines.next_content())
    lines.fail("more than the " + std::to_string(size.entries)
               + " entries that the size line promises");
  if (options.progress)
    options.progress(size.entries, size.entries);
}

std::ifstream open(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    throw error{errc::bad_file, path + ": cannot be opened for reading"};
  return file;
}

template <class T>
csr_matrix<T> read_matrix(line_reader lines, const matrix_market_options& options) {
  const auto h = read_header(lines);
  if (!h.coordinate)
    lines.fail("a dense 'array', where a sparse matrix ('coordinate') was expected");
  const auto size = read_size(lines, h, options.limits);
  refuse_emptiness(lines, size, options.limits);
  triplets<T> entries{size.rows, size.columns};
  // The count in the header is reserved only up to an amount that a small file may waste.
  entries.reserve(static_cast<std::size_t>(std::min(size.entries, free_entries)));
  const auto largest = std::min<std::int64_t>(options.limits.max_entries, 2'147'483'647);
  read_entries<T>(lines, h, size, options, [&](index_type row, index_type column, T v) {
    if (h.mirrored == symmetry::skew && row == column)
      lines.fail("a skew-symmetric matrix stores nothing on its diagonal");
    if (h.mirrored != symmetry::general && column > row)
      lines.fail("an entry above the diagonal; symmetric matrices store the lower triangle");
    const bool mirror = h.mirrored != symmetry::general && row != column;
    if (static_cast<std::int64_t>(entries.size()) + (mirror ? 2 : 1) > largest)
      lines.too_large("more than " + std::to_string(largest) + " entries with both halves");
    entries.add(row, column, v);
    if (mirror)
      entries.add(column, row, h.mirrored == symmetry::skew ? -v : v);
  });
  try {
    return std::move(entries).build();
  } catch (const error& e) { // repeated entries whose sum overflows
    throw error{errc::bad_file, options.file_name + ": " + e.what()};
  }
}

template <class T>
std::vector<T> read_vector(line_reader lines, const matrix_market_options& options) {
  const auto h = read_header(lines);
  if (h.mirrored != symmetry::general)
    lines.fail("a symmetric matrix, where a vector was expected");
  const auto size = read_size(lines, h, options.limits);
  if (size.columns != 1)
    lines.fail(std::to_string(size.columns) + " columns, where a vector (1 column) was expected");
  std::vector<T> result;
  std::vector<index_type> rows; // of a coordinate file, until all entries have come
  read_entries<T>(lines, h, size, options, [&](index_type row, index_type, T v) {
    result.push_back(v);
    if (h.coordinate)
      rows.push_back(row);
  });
  if (!h.coordinate)
    return result;
  std::vector<T> all(static_cast<std::size_t>(size.rows), T{0});
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (auto& sum = all[static_cast<std::size_t>(rows[k])]; !std::isfinite(sum += result[k]))
      throw error{errc::bad_file, options.file_name + ": the repeated entries of row "
                                    + std::to_string(rows[k] + 1) + " add up to "
                                    + std::to_string(sum)};
  return all;
}

} // namespace

template <class T>
csr_matrix<T> read_matrix_market(std::istream& in, const matrix_market_options& options) {
  return read_matrix<T>({in, options.file_name}, options);
}

template <class T>
csr_matrix<T> read_matrix_market(const std::string& path, matrix_market_options options) {
  auto file = open(path);
  options.file_name = path;
  return read_matrix_market<T>(file, options);
}

template <class T>
csr_matrix<T> parse_matrix_market(std::string_view text, const matrix_market_options& options) {
  return read_matrix<T>({text, options.file_name}, options);
}

template <class T>
std::vector<T> parse_matrix_market_vector(std::string_view text,
                                          const matrix_market_options& options) {
  return read_vector<T>({text, options.file_name}, options);
}

template <class T>
std::vector<T> read_matrix_market_vector(std::istream& in, const matrix_market_options& options) {
  return read_vector<T>({in, options.file_name}, options);
}

template <class T>
std::vector<T> read_matrix_market_vector(const std::string& path, matrix_market_options options) {
  auto file = open(path);
  options.file_name = path;
  return read_matrix_market_vector<T>(file, options);
}

#define BASAL_INSTANTIATE(T)                                                                       \
  template csr_matrix<T> read_matrix_market(std::istream&, const matrix_market_options&);          \
  template csr_matrix<T> read_matrix_market(const std::string&, matrix_market_options);            \
  template csr_matrix<T> parse_matrix_market(std::string_view, const matrix_market_options&);      \
  template std::vector<T> parse_matrix_market_vector(std::string_view,                             \
                                                     const matrix_market_options&);                \
  template std::vector<T> read_matrix_market_vector(std::istream&, const matrix_market_options&);  \
  template std::vector<T> read_matrix_market_vector(const std::string&, matrix_market_options);

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver
