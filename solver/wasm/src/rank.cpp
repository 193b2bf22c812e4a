// Ranks in graphs: all of them, one of them, and the largest.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <basal/solver/pagerank.hpp>
#include <basal/solver/top_k.hpp>

#include "guard.hpp"
#include "matrix.hpp"
#include "options.hpp"
#include "result.hpp"

namespace basal::solver::wasm {

namespace {

pagerank_options of(const options& o) {
  return {.restart = o.restart, .solving = o.solving};
}

} // namespace

BASAL_EXPORT(pagerank_all)
result* pagerank_all(const held_matrix* links, const options* o, const double* restarts,
                     std::size_t size) {
  return guarded<result*>(nullptr, [&] {
    return new result{
      personalised_pagerank<double>(links->get(), std::span{restarts, size}, of(*o))};
  });
}

BASAL_EXPORT(pagerank_one)
result* pagerank_one(const held_matrix* links, const options* o, index_type source,
                     index_type target) {
  return guarded<result*>(
    nullptr, [&] { return new result{pagerank_of<double>(links->get(), source, target, of(*o))}; });
}

BASAL_EXPORT(pagerank_system)
held_matrix* pagerank_system(const held_matrix* links, const options* o) {
  return guarded<held_matrix*>(
    nullptr, [&] { return new held_matrix{pagerank_matrix<double>(links->get(), o->restart)}; });
}

// b as places and what it is there.
BASAL_EXPORT(top_k)
top_k_result* top_k(held_matrix* m, const options* o, const index_type* places,
                    const double* values, std::size_t size) {
  return guarded<top_k_result*>(nullptr, [&] {
    std::vector<std::pair<index_type, double>> b;
    b.reserve(size);
    for (std::size_t i = 0; i < size; ++i)
      b.emplace_back(places[i], values[i]);
    return new top_k_result{m->ranker().rank(b, o->top_k)};
  });
}

BASAL_EXPORT(top_delete) void top_delete(top_k_result* t) {
  delete t;
}

BASAL_EXPORT(top_size) std::size_t top_size(const top_k_result* t) {
  return t->entries.size();
}

BASAL_EXPORT(top_index) index_type top_index(const top_k_result* t, std::size_t i) {
  return t->entries[i].index;
}

BASAL_EXPORT(top_value) double top_value(const top_k_result* t, std::size_t i) {
  return t->entries[i].value;
}

BASAL_EXPORT(top_half_width) double top_half_width(const top_k_result* t, std::size_t i) {
  return t->entries[i].half_width;
}

BASAL_EXPORT(top_settled) int top_settled(const top_k_result* t) {
  return t->settled ? 1 : 0;
}

BASAL_EXPORT(top_certain) int top_certain(const top_k_result* t) {
  return t->certain ? 1 : 0;
}

BASAL_EXPORT(top_pushes) double top_pushes(const top_k_result* t) {
  return static_cast<double>(t->pushes);
}

} // namespace basal::solver::wasm
