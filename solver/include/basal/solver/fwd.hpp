/// The solver's types, for those who only name them.
#pragma once

#include <cstdint>

namespace basal::solver {

/// Rows, columns and positions of entries: 32 bits, because what a product of a sparse matrix
/// costs is mostly the reading of its indices.
using index_type = std::int32_t;

enum class errc : std::uint8_t;
enum class method : std::uint8_t;
enum class preconditioning : std::uint8_t;
enum class state : std::uint8_t;
enum class summation : std::uint8_t;

class error;
struct solve_options;
struct step_report;

template <class T>
class csr_matrix;
template <class T>
class linear_operator;
template <class T>
class solve_plan;
template <class T>
class stepper;
template <class T>
class triplets;
template <class T>
struct solve_result;

} // namespace basal::solver
