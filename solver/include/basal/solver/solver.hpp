#pragma once

// The front door: matrices, solving one system, and solving many.

#include <basal/solver/batch.hpp>
#include <basal/solver/block_stepper.hpp>
#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/errors.hpp>
#include <basal/solver/linear_operator.hpp>
#include <basal/solver/matrix_market.hpp>
#include <basal/solver/pagerank.hpp>
#include <basal/solver/solve.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/stepper.hpp>
#include <basal/solver/top_k.hpp>
#include <basal/solver/triplets.hpp>
