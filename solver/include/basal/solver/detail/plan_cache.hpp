/// Plans that were made before, for those who come again with the same matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/solve_options.hpp>
#include <basal/solver/solve_plan.hpp>

namespace basal::solver {

/// Counts of a plan_cache so far, and its content; a consistent snapshot.
struct plan_cache_stats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;  ///< plans that were made, or could not be
  std::uint64_t evicted = 0; ///< gave way to others
  std::size_t plans = 0;     ///< held now
  std::size_t bytes = 0;     ///< held now

  friend plan_cache_stats operator+(const plan_cache_stats& a, const plan_cache_stats& b) noexcept {
    return {a.hits + b.hits, a.misses + b.misses, a.evicted + b.evicted, a.plans + b.plans,
            a.bytes + b.bytes};
  }
};

/// Keeps the plans used last, up to a number of bytes. Any thread; a mutex, held for a look into
/// a hash table and never while a plan is made or destroyed. When several threads miss the same
/// plan at once, each makes one and the first to finish wins: nobody waits.
///
/// A plan belongs to a matrix object, which is immutable, and to all options: an equal matrix at
/// another address is another matrix. The plan keeps its matrix alive, so the address is
/// not used again meanwhile; a matrix that nobody else has goes when its plan gives way.
template <class T>
class plan_cache {
public:
  /// @param limit_bytes of all plans together, see solve_plan::bytes(); what is larger alone
  ///        is not kept, and with 0 nothing is
  explicit plan_cache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {
  }

  plan_cache(const plan_cache&) = delete;
  plan_cache& operator=(const plan_cache&) = delete;

  /// The plan for `a` and `options`, made now if it is not there. For a matrix-free operator it is
  /// always made, and not counted. @throws as the constructor of solve_plan
  solve_plan<T> get(const linear_operator<T>& a, const solve_options& options);

  plan_cache_stats stats() const;

private:
  struct key {
    const csr_matrix<T>* matrix;
    solve_options options;

    friend bool operator==(const key&, const key&) = default;
  };

  struct hash {
    std::size_t operator()(const key& k) const noexcept;
  };

  struct entry {
    key made_for;
    solve_plan<T> plan;
    std::size_t bytes;
  };

  using entries = std::list<entry>;

  std::optional<solve_plan<T>> find(const key& wanted);
  solve_plan<T> keep(const key& made_for, solve_plan<T> plan);

  const std::size_t limit_bytes_;

  mutable std::mutex mutex_;
  entries entries_; ///< guarded, as all below; the one used last comes first
  std::unordered_map<key, typename entries::iterator, hash> places_;
  plan_cache_stats stats_;
};

extern template class plan_cache<float>;
extern template class plan_cache<double>;

} // namespace basal::solver
