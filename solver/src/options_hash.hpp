// Hashes of what requests are compared by.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>

#include <basal/solver/solve_options.hpp>

namespace basal::solver::detail {

template <class... Fields>
std::size_t hash_of(const std::tuple<Fields...>& values) {
  std::size_t hash = 0;
  auto mix = [&hash]<class T>(const T& value) {
    hash = (hash ^ std::hash<std::remove_cvref_t<T>>{}(value)) * 0x9e37'79b9'7f4a'7c15u;
    hash ^= hash >> 32;
  };
  std::apply([&](const auto&... value) { (mix(value), ...); }, values);
  return hash;
}

inline std::size_t hash_of(const solve_options& o) {
  return hash_of(std::tie(o.method, o.preconditioner, o.tolerance, o.iteration_limit, o.entry,
                          o.seed, o.walks_per_step, o.confidence, o.order, o.factor_bytes));
}

} // namespace basal::solver::detail
