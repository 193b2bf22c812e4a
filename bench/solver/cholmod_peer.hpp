// SuiteSparse's CHOLMOD: a sparse direct solver, and its product. Its supernodal factorisation
// calls BLAS, which should be OpenBLAS: the reference BLAS is several times slower.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::bench {

class cholmod_peer {
public:
  // Copies `a`, whose rows and columns CHOLMOD keeps by columns. `symmetric`: the upper triangle
  // alone, as its factorisation wants it.
  enum class kind { general, symmetric };
  cholmod_peer(const solver::csr_matrix<double>& a, kind k);
  ~cholmod_peer();

  // Y = A X by cholmod_sdmult, for as many vectors as X holds, one after the other.
  void multiply(std::span<const double> x, std::span<double> y);

  // Orders and factorises; CHOLMOD chooses the ordering and whether by supernodes.
  // Throws std::runtime_error if the matrix is not positive definite.
  void factorise();

  // With the last factor, and as many steps of iterative refinement as it takes, usually none,
  // until |b - A x| <= tolerance |b|.
  std::vector<double> solve(std::span<const double> b, double tolerance);

private:
  struct data;
  std::unique_ptr<data> data_;
};

} // namespace basal::bench
