/// Incomplete factorisations without fill-in: IC(0) and ILU(0).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/summation.hpp>

namespace basal::solver {

/// An approximation L U of a matrix with the matrix's own pattern, as a preconditioner.
/// Immutable; any thread may apply it.
///
/// Sources: Meijerink and van der Vorst, Math. Comp. 31 (1977), for IC(0); Saad, "Iterative
/// Methods for Sparse Linear Systems", 2nd ed., section 10.3, for ILU(0). Where a pivot of IC(0)
/// is not positive, the factorisation is that of A + shift * diag(A) (Manteuffel, Math. Comp. 34
/// (1980)), with the first shift of 0.001, 0.002, 0.004, ... that works.
template <class T>
class incomplete_factor {
public:
  /// IC(0) of a symmetric matrix, of which only the lower triangle is read. Throws error:
  /// dimension_mismatch; zero_diagonal if a diagonal element is not positive.
  static incomplete_factor cholesky(const csr_matrix<T>& a);

  /// ILU(0). Throws error: dimension_mismatch; zero_diagonal if a diagonal element is missing or
  /// a pivot becomes 0 (which names the row).
  static incomplete_factor lu(const csr_matrix<T>& a);

  /// z = (L U)^-1 r; allocates nothing. The spans do not overlap.
  void apply(std::span<const T> r, std::span<T> z, summation order) const noexcept;

  /// Addition to the diagonal, relative to it; 0 if none was needed.
  double shift() const noexcept {
    return shift_;
  }

  /// Memory of the arrays.
  std::size_t bytes() const noexcept {
    return lower_.bytes() + upper_.bytes();
  }

private:
  struct triangle_arrays {
    std::vector<index_type> row_starts{0};
    std::vector<index_type> columns;
    std::vector<T> values;
    std::vector<T> inverse_diagonal;

    std::size_t bytes() const noexcept {
      return (row_starts.capacity() + columns.capacity()) * sizeof(index_type)
             + (values.capacity() + inverse_diagonal.capacity()) * sizeof(T);
    }
  };

  incomplete_factor() = default;

  bool try_cholesky(const csr_matrix<T>& a, double shift);

  triangle_arrays lower_; // columns ascend; scaled as kernels::triangle wants it
  triangle_arrays upper_; // columns descend
  double shift_ = 0;
};

extern template class incomplete_factor<float>;
extern template class incomplete_factor<double>;

} // namespace basal::solver
