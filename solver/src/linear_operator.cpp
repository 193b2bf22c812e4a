#include <basal/solver/linear_operator.hpp>

#include <cassert>
#include <string>

#include <basal/solver/detail/kernels/product.hpp>
#include <basal/solver/detail/kernels/vector.hpp>
#include <basal/solver/errors.hpp>

namespace basal::solver {

template <class T>
linear_operator<T>::linear_operator(std::shared_ptr<const csr_matrix<T>> matrix)
  : size_(matrix->rows()), matrix_(std::move(matrix)) {
  if (!matrix_->is_square())
    throw error{errc::dimension_mismatch, "a linear system needs a square matrix, not "
                                            + std::to_string(matrix_->rows()) + " x "
                                            + std::to_string(matrix_->columns())};
}

template <class T>
linear_operator<T>::linear_operator(index_type size, product multiply, std::vector<T> diagonal)
  : size_(size), multiply_(std::move(multiply)), diagonal_(std::move(diagonal)) {
  if (size < 0 || (!diagonal_.empty() && diagonal_.size() != static_cast<std::size_t>(size)))
    throw error{errc::dimension_mismatch, "an operator of size " + std::to_string(size)
                                            + " with a diagonal of "
                                            + std::to_string(diagonal_.size())};
}

template <class T>
std::vector<T> linear_operator<T>::diagonal() const {
  return matrix_ ? matrix_->diagonal() : diagonal_;
}

template <class T>
void linear_operator<T>::multiply(std::span<const T> x, std::span<T> y, summation order) const {
  if (matrix_)
    kernels::multiply(*matrix_, x, y, order);
  else
    multiply_(x, y);
}

template <class T>
double linear_operator<T>::multiply_dot(std::span<const T> x, std::span<T> y,
                                        summation order) const {
  if (matrix_)
    return kernels::multiply_dot(*matrix_, x, y, order);
  multiply_(x, y);
  return kernels::dot<T>(x, y, order);
}

template <class T>
double linear_operator<T>::residual(std::span<const T> x, std::span<const T> b, std::span<T> r,
                                    summation order) const {
  if (matrix_)
    return kernels::residual(*matrix_, x, b, r, order);
  multiply_(x, r);
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] = b[i] - r[i];
  return kernels::dot<T>(r, r, order);
}

template <class T>
double linear_operator<T>::neumann_term(std::span<const T> t, std::span<const T> d, std::span<T> x,
                                        std::span<T> r, std::span<T> next, summation order) const {
  if (matrix_)
    return kernels::neumann_term(*matrix_, t, d, x, r, next, order);
  multiply_(t, next);
  kernels::axpy<T>(1, t, x, order);
  kernels::axpy<T>(-1, next, r, order);
  kernels::scale<T>(d, r, next);
  return kernels::dot<T>(r, r, order);
}

template class linear_operator<float>;
template class linear_operator<double>;

} // namespace basal::solver
