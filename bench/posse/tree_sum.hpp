/// The sum of a tree's nodes, on basal and its peers. In a file of their own,
/// as in a program: beside the cases' std::functions g++ inlines no recursion,
/// because it lets a file grow by two fifths only.
#pragma once

#include <basal/posse/posse.hpp>

namespace basal::bench {

struct tree_node {
  long value;
  const tree_node* left;
  const tree_node* right;
};

long sum_serial(const tree_node* t);
long sum_basal(posse::member& m, const tree_node* t);
long sum_tbb(const tree_node* t);
long sum_openmp(const tree_node* t); ///< inside a parallel region

inline constexpr posse::pure<sum_basal> pure_sum{"tree_sum"};

} // namespace basal::bench
