/// A square matrix, or something that acts like one.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/summation.hpp>

namespace basal::solver {

/// The matrix as the iterative methods use it: a shared matrix or a function y = A x. Copies are
/// cheap and share it. A function may be called by several threads at the same time if several
/// solves use the operator at the same time.
template <class T>
class linear_operator {
public:
  /// Must not allocate or throw: it is called in every step. `x` and `y` never overlap.
  using product = std::function<void(std::span<const T> x, std::span<T> y)>;

  /// Throws error{dimension_mismatch} unless the matrix is square. Not null.
  linear_operator(std::shared_ptr<const csr_matrix<T>> matrix); // NOLINT: implicit on purpose

  /// A matrix-free operator on vectors of `size`. `diagonal` enables the Jacobi preconditioner;
  /// empty if unknown. Throws error{dimension_mismatch} if it has another size.
  linear_operator(index_type size, product multiply, std::vector<T> diagonal = {});

  /// Rows, which are as many as columns.
  index_type size() const noexcept {
    return size_;
  }

  /// Null for a matrix-free operator.
  const std::shared_ptr<const csr_matrix<T>>& matrix() const noexcept {
    return matrix_;
  }

  /// Empty if unknown.
  std::vector<T> diagonal() const;

  /// y = A x
  void multiply(std::span<const T> x, std::span<T> y, summation order) const;

  /// y = A x; returns x'y
  double multiply_dot(std::span<const T> x, std::span<T> y, summation order) const;

  /// r = b - A x; returns r'r
  double residual(std::span<const T> x, std::span<const T> b, std::span<T> r,
                  summation order) const;

  /// x += t; r -= A t; next = d r (entry by entry); returns r'r
  double neumann_term(std::span<const T> t, std::span<const T> d, std::span<T> x, std::span<T> r,
                      std::span<T> next, summation order) const;

private:
  index_type size_;
  std::shared_ptr<const csr_matrix<T>> matrix_;
  product multiply_;
  std::vector<T> diagonal_;
};

extern template class linear_operator<float>;
extern template class linear_operator<double>;

} // namespace basal::solver
