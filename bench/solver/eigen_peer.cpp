#include "bench/solver/eigen_peer.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <basal/solver/eigen.hpp>

namespace basal::bench {

namespace {

using by_rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using by_columns = Eigen::SparseMatrix<double>;
using vector = Eigen::VectorXd;
constexpr int both = Eigen::Lower | Eigen::Upper;
using natural = Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>>;
using amd = Eigen::IncompleteCholesky<double>;

template <class Method>
eigen_peer::solution run(Method& method, std::span<const double> b, double tolerance) {
  method.setTolerance(tolerance);
  method.setMaxIterations(100'000);
  const Eigen::Map<const vector> right{b.data(), static_cast<Eigen::Index>(b.size())};
  const vector x = method.solve(right);
  return {{x.data(), x.data() + x.size()}, method.iterations()};
}

} // namespace

struct eigen_peer::data {
  explicit data(const solver::csr_matrix<double>& a)
    : rows(solver::as_eigen(a)), columns(solver::as_eigen(a)) {
  }

  by_rows rows;
  by_columns columns;
  // Made at first use: a case that only multiplies should not pay for factors.
  std::unique_ptr<Eigen::ConjugateGradient<by_rows, both>> cg_rows;
  std::unique_ptr<Eigen::ConjugateGradient<by_columns, Eigen::Lower>> cg_columns;
  std::unique_ptr<Eigen::ConjugateGradient<by_rows, both, natural>> ic_natural;
  std::unique_ptr<Eigen::ConjugateGradient<by_rows, both, amd>> ic_amd;
};

eigen_peer::eigen_peer(const solver::csr_matrix<double>& a) : data_(std::make_unique<data>(a)) {
}

eigen_peer::~eigen_peer() = default;

void eigen_peer::multiply(std::span<const double> x, std::span<double> y) const {
  const Eigen::Map<const vector> from{x.data(), static_cast<Eigen::Index>(x.size())};
  Eigen::Map<vector> to{y.data(), static_cast<Eigen::Index>(y.size())};
  to.noalias() = data_->rows * from;
}

eigen_peer::solution eigen_peer::solve(variant v, std::span<const double> b,
                                       double tolerance) const {
  const auto with = [&](auto& slot, const auto& matrix) {
    if (!slot)
      slot
        = std::make_unique<typename std::remove_reference_t<decltype(slot)>::element_type>(matrix);
    return run(*slot, b, tolerance);
  };
  switch (v) {
  case variant::cg_rows:
    return with(data_->cg_rows, data_->rows);
  case variant::cg_columns:
    return with(data_->cg_columns, data_->columns);
  case variant::ic_natural:
    return with(data_->ic_natural, data_->rows);
  default:
    return with(data_->ic_amd, data_->rows);
  }
}

} // namespace basal::bench
