#include "factor/cuthill_mckee.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "at.hpp"

namespace basal::solver::detail {

namespace {

class graph_walk {
public:
  explicit graph_walk(const csr_matrix<double>& a)
    : a_(a), t_(a.transposed()), seen_in_(at(a.rows()), 0) {
  }

  std::vector<index_type> run() && {
    std::vector<index_type> order;
    order.reserve(seen_in_.size());
    for (index_type first = 0; first < a_.rows(); ++first) {
      if (seen_in_[at(first)] != placed)
        append_component(far_from(first), order);
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

private:
  // The number of a walk, or that the node has its place in the order.
  static constexpr std::size_t placed = static_cast<std::size_t>(-1);

  struct levels {
    std::size_t count = 1;
    std::size_t last_begins = 0;
  };

  // An entry counts twice where its mirror is stored, too: it only has to tell small from large.
  std::size_t degree(index_type i) const noexcept {
    return a_.row_columns(i).size() + t_.row_columns(i).size();
  }

  // Appends what `from` reaches, level by level, neighbours of low degree first.
  levels walk(index_type from, std::size_t number, std::vector<index_type>& found) {
    levels result{1, found.size()};
    auto level_ends = found.size() + 1;
    auto next = found.size();
    seen_in_[at(from)] = number;
    found.push_back(from);
    for (; next < found.size(); ++next) {
      if (next == level_ends) {
        ++result.count;
        result.last_begins = level_ends;
        level_ends = found.size();
      }
      const auto mine = static_cast<std::ptrdiff_t>(found.size());
      const index_type here = found[next];
      for (const auto neighbours : {a_.row_columns(here), t_.row_columns(here)}) {
        for (const index_type j : neighbours) {
          if (seen_in_[at(j)] == number || seen_in_[at(j)] == placed)
            continue;
          seen_in_[at(j)] = number;
          found.push_back(j);
        }
      }
      std::sort(found.begin() + mine, found.end(), [this](index_type x, index_type y) {
        return std::pair{degree(x), x} < std::pair{degree(y), y};
      });
    }
    return result;
  }

  // A node at an end of its component: the one of least degree in the last level of a walk,
  // again and again while the walks from there get longer.
  index_type far_from(index_type first) {
    scratch_.clear();
    auto seen = walk(first, ++walks_, scratch_);
    for (;;) {
      const index_type candidate
        = *std::min_element(scratch_.begin() + static_cast<std::ptrdiff_t>(seen.last_begins),
                            scratch_.end(), [this](index_type x, index_type y) {
                              return std::pair{degree(x), x} < std::pair{degree(y), y};
                            });
      scratch_.clear();
      const auto deeper = walk(candidate, ++walks_, scratch_);
      if (deeper.count <= seen.count)
        return candidate;
      seen = deeper;
    }
  }

  void append_component(index_type first, std::vector<index_type>& order) {
    const auto begin = order.size();
    walk(first, ++walks_, order);
    for (auto k = begin; k < order.size(); ++k)
      seen_in_[at(order[k])] = placed;
  }

  const csr_matrix<double>& a_;
  csr_matrix<double> t_;
  std::vector<std::size_t> seen_in_;
  std::vector<index_type> scratch_;
  std::size_t walks_ = 0;
};

} // namespace

std::vector<index_type> reverse_cuthill_mckee(const csr_matrix<double>& a) {
  return graph_walk{a}.run();
}

} // namespace basal::solver::detail
