/// Reading matrices and vectors from Matrix Market files.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver {

/// Limits of a file's claims; beyond them it is refused with errc::too_large.
struct matrix_market_limits {
  /// Rows and columns. The size line of a file is a claim by a stranger.
  index_type max_rows = 10'000'000;

  /// Rows, and columns, that a matrix may have whatever its entries are; beyond, there are at most
  /// `max_rows_per_entry` for each entry. Whoever builds, measures and solves takes up to 90 bytes
  /// for a row, so that without this a file of 60 bytes could claim a gigabyte.
  index_type free_rows = 65'536;
  index_type max_rows_per_entry = 16; ///< see `free_rows`

  /// Entries of the matrix, after the other half of a symmetric one was added. An entry costs up
  /// to 56 bytes while the matrix is built.
  std::int64_t max_entries = 100'000'000;
};

/// How a file is read.
struct matrix_market_options {
  /// Named in errors.
  std::string file_name = "matrix";

  matrix_market_limits limits = {}; ///< of the file's claims

  /// Called now and then (every 2^20 entries) with the number of entries read and of those that the
  /// size line promises. An exception from it ends the reading.
  std::function<void(std::int64_t read, std::int64_t promised)> progress = {};
};

/// Reads a sparse matrix: `matrix coordinate`, real, integer or pattern (whose entries are 1),
/// general, symmetric or skew-symmetric (both halves are stored); repeated entries add up. Reads
/// line by line and keeps nothing but the entries, for which memory is taken as they come, not as
/// the header promises; a file that is too short for its promise is refused at the size line.
///
/// Throws error{bad_file} with file, line, what was found and what was expected; error{too_large}
/// beyond the limits. T is float or double.
///
/// Format: R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial
/// Design", NISTIR 5935, 1996.
template <class T>
csr_matrix<T> read_matrix_market(std::istream& in, const matrix_market_options& options = {});

/// The same from a file, whose name errors tell. Throws error{bad_file} if it cannot be opened.
template <class T>
csr_matrix<T> read_matrix_market(const std::string& path, matrix_market_options options = {});

/// The same from the text itself.
template <class T>
csr_matrix<T> parse_matrix_market(std::string_view text, const matrix_market_options& options = {});

/// Reads one column: `matrix array` n x 1 (real or integer, general), or `matrix coordinate` n x 1,
/// in which what is not named is 0. Errors as above.
template <class T>
std::vector<T> read_matrix_market_vector(std::istream& in,
                                         const matrix_market_options& options = {});

/// The same from a file.
template <class T>
std::vector<T> read_matrix_market_vector(const std::string& path,
                                         matrix_market_options options = {});

/// The same from the text itself.
template <class T>
std::vector<T> parse_matrix_market_vector(std::string_view text,
                                          const matrix_market_options& options = {});

#define BASAL_EXTERN(T)                                                                            \
  extern template csr_matrix<T> read_matrix_market(std::istream&, const matrix_market_options&);   \
  extern template csr_matrix<T> read_matrix_market(const std::string&, matrix_market_options);     \
  extern template csr_matrix<T> parse_matrix_market(std::string_view,                              \
                                                    const matrix_market_options&);                 \
  extern template std::vector<T> parse_matrix_market_vector(std::string_view,                      \
                                                            const matrix_market_options&);         \
  extern template std::vector<T> read_matrix_market_vector(std::istream&,                          \
                                                           const matrix_market_options&);          \
  extern template std::vector<T> read_matrix_market_vector(const std::string&,                     \
                                                           matrix_market_options);
BASAL_EXTERN(float)
BASAL_EXTERN(double)
#undef BASAL_EXTERN

} // namespace basal::solver
