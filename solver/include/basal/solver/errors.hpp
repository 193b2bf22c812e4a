/// Why a solve has no result: what is wrong with the problem, or why it did not begin or end.
///
/// A solve that does not converge is no error: that is a `state` of its result.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace basal::solver {

/// Why a solve, or the making of a matrix, failed.
enum class errc : std::uint8_t {
  dimension_mismatch = 1,  ///< sizes of A, b and x do not fit together, or A is not square
  malformed_matrix,        ///< indices out of range, unsorted or repeated
  not_finite,              ///< NaN or an infinity in A, b or the first guess
  zero_diagonal,           ///< the method divides by the diagonal, and an entry is 0 or missing
  not_symmetric,           ///< the method needs a symmetric matrix
  no_convergence_expected, ///< the series or the walks of the named method would not end
  bad_option,              ///< an option outside its range
  too_large,               ///< more entries than a 32-bit index can count, or no memory for them
  bad_file,                ///< a Matrix Market file that cannot be read

  // Only from batch_solver:
  too_busy,       ///< all permits were taken, and the policy is to reject
  timed_out,      ///< no permit became free in time
  cancelled,      ///< its stop token was used
  stopped,        ///< the batch_solver, or its executors, stopped first
  out_of_scratch, ///< the scratch pool's limit would be exceeded
  nested,         ///< called from inside a solve, which must not start parallel work
  internal,       ///< an exception of another kind, named in the text
};

/// "dimension_mismatch" etc.
std::string_view to_string(errc code) noexcept;

/// Thrown with a sentence that names the cause and, where there is one, the remedy.
class error : public std::runtime_error {
public:
  /// @param code why
  /// @param what the sentence, which what() returns
  error(errc code, const std::string& what) : std::runtime_error(what), code_(code) {
  }

  /// For programs; the sentence is for people.
  errc code() const noexcept {
    return code_;
  }

private:
  errc code_;
};

} // namespace basal::solver
