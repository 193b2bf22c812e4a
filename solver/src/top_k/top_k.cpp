#include <basal/solver/top_k.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>

#include <basal/solver/errors.hpp>
#include <basal/solver/matrix_profile.hpp>
#include <basal/solver/solve.hpp>

#include "at.hpp"
#include "top_k/local_push.hpp"

namespace basal::solver {

namespace {

using detail::at;

using std::size_t;

/// Factor of the threshold of pushes from one look at the bounds to the next: a guess, as a look
/// costs about as much as the pushes in between.
constexpr double sinking = 0.25;

/// Below this share of the largest residual at first, rounding errors are what is pushed.
constexpr double lowest_residual = 1e-15;

struct candidate {
  index_type place;
  double low; ///< lower bound of x here
  double high;
};

void validate(const top_k_options& o) {
  if (o.k == 0)
    throw error{errc::bad_option, "top_k_options: k is 0; it must be at least 1"};
  if (!(o.tolerance > 0 && o.tolerance < 1))
    throw error{errc::bad_option, "top_k_options: tolerance is " + std::to_string(o.tolerance)
                                    + "; it must be above 0 and below 1"};
}

} // namespace

template <class T>
struct top_k_ranker<T>::data {
  struct workspace {
    explicit workspace(size_t n) : push(n) {
    }

    detail::local_push push;
    std::vector<candidate> candidates;
  };

  /// Lends workspaces; what one question used another one may.
  class lease {
  public:
    explicit lease(const data& from) : from_(from) {
      std::lock_guard guard{from.mutex};
      if (!from.idle.empty()) {
        space_ = std::move(from.idle.back());
        from.idle.pop_back();
        return;
      }
      space_ = std::make_unique<workspace>(from.size());
      ++from.made;
      from.idle.reserve(from.made); // so that giving back does not fail
    }
    ~lease() {
      space_->push.clear();
      std::lock_guard guard{from_.mutex};
      from_.idle.push_back(std::move(space_));
    }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;

    workspace& operator*() noexcept {
      return *space_;
    }

  private:
    const data& from_;
    std::unique_ptr<workspace> space_;
  };

  /// How far the search has come: bounds on what it has not found.
  struct frontier {
    double largest = 0;   ///< residual
    double scattered = 0; ///< sum of residuals over the columns' dominance
  };

  explicit data(std::shared_ptr<const csr_matrix<T>> matrix) : a(std::move(matrix)) {
  }

  size_t size() const noexcept {
    return at(a->rows());
  }

  /// The most of x_i that is not in the estimate.
  double missing(index_type i, const frontier& f) const noexcept {
    return std::min(f.largest * reach[at(i)], f.scattered * inverse_diagonal[at(i)]);
  }

  double put_in_order(workspace& w, size_t k, const frontier& f) const;

  std::shared_ptr<const csr_matrix<T>> a;
  csr_matrix<T> columns; ///< the transpose
  std::vector<double> inverse_diagonal;
  double column_ratio = 0;
  std::vector<double> reach;        ///< at least A^-1 1
  std::vector<index_type> by_reach; ///< descending

  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<workspace>> idle; ///< guarded
  mutable size_t made = 0;                              ///< guarded
};

/// Makes `candidates` the k largest entries as far as is known, descending.
/// @returns a bound on all others
template <class T>
double top_k_ranker<T>::data::put_in_order(workspace& w, size_t k, const frontier& f) const {
  auto& all = w.candidates;
  all.clear();
  for (const index_type i : w.push.touched())
    all.push_back({i, w.push[i].estimate, w.push[i].estimate + missing(i, f)});
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(std::min(k, all.size()));
  std::partial_sort(all.begin(), middle, all.end(), [](const candidate& x, const candidate& y) {
    const double sum_x = x.low + x.high, sum_y = y.low + y.high;
    return sum_x != sum_y ? sum_x > sum_y : x.place < y.place;
  });
  double others = 0;
  for (auto c = middle; c != all.end(); ++c)
    others = std::max(others, c->high);
  for (const index_type i : by_reach) {
    if (!w.push[i].touched) { // of those that nothing has reached it may be the largest
      others = std::max(others, missing(i, f));
      break;
    }
  }
  all.erase(middle, all.end());
  return others;
}

template <class T>
top_k_ranker<T>::top_k_ranker(std::shared_ptr<const csr_matrix<T>> a)
  : data_(std::make_unique<data>(std::move(a))) {
  auto& d = *data_;
  const auto profile = measure(*d.a);
  if (!profile.positive_diagonal || !profile.opposite_signs)
    throw error{errc::bad_option, "top_k_ranker: the matrix is no M-matrix, as its diagonal is not "
                                  "positive or another entry is; solve the system and sort"};
  if (!(profile.column_ratio < 1))
    throw error{errc::no_convergence_expected,
                "top_k_ranker: pushes would not end, since a column has |off-diagonal|/|diagonal| "
                "= "
                  + std::to_string(profile.column_ratio) + "; it must be below 1"};
  d.column_ratio = profile.column_ratio;
  d.columns = d.a->transposed();
  for (const T x : d.a->diagonal())
    d.inverse_diagonal.push_back(1 / static_cast<double>(x));
  const std::vector<T> ones(d.size(), T{1});
  const auto solved
    = solve<T>(linear_operator<T>{d.a}, ones,
               {.tolerance = 1e-4, .iteration_limit = 100'000, .order = summation::portable});
  // A^-1 >= 0, so y >= A^-1 1 if A y >= 1: whatever the solve is like, this factor makes it so.
  double least = std::numeric_limits<double>::infinity();
  for (index_type r = 0; r < d.a->rows(); ++r) {
    double sum = 0;
    for (size_t k = 0; k < d.a->row_columns(r).size(); ++k)
      sum += static_cast<double>(d.a->row_values(r)[k])
             * static_cast<double>(solved.x[at(d.a->row_columns(r)[k])]);
    least = std::min(least, sum);
  }
  if (!(least > 0))
    throw error{errc::no_convergence_expected,
                "top_k_ranker: A y = 1 could not be solved: " + solved.why};
  for (const T y : solved.x)
    d.reach.push_back(static_cast<double>(y) / least * (1 + 1e-12)); // more than rounding
  d.by_reach.resize(d.size());
  std::iota(d.by_reach.begin(), d.by_reach.end(), 0);
  std::sort(d.by_reach.begin(), d.by_reach.end(), [&d](index_type i, index_type j) {
    return d.reach[at(i)] != d.reach[at(j)] ? d.reach[at(i)] > d.reach[at(j)] : i < j;
  });
}

template <class T>
top_k_ranker<T>::~top_k_ranker() = default;

template <class T>
top_k_result top_k_ranker<T>::rank(std::span<const std::pair<index_type, T>> b,
                                   const top_k_options& options) const {
  validate(options);
  const auto& d = *data_;
  for (const auto& [place, weight] : b)
    if (place < 0 || place >= d.a->rows() || !(weight >= 0) || !std::isfinite(weight))
      throw error{errc::bad_option, "top_k_ranker: b has " + std::to_string(weight) + " at place "
                                      + std::to_string(place) + " of " + std::to_string(d.a->rows())
                                      + "; it must be finite and not negative"};
  typename data::lease lent{d};
  auto& w = *lent;
  for (const auto& [place, weight] : b)
    w.push.add_residual(place, static_cast<double>(weight));
  top_k_result result;
  auto left = options.push_limit;
  const double first = w.push.largest_residual();
  for (double threshold = first * sinking;; threshold *= sinking) {
    w.push.run(d.columns, d.inverse_diagonal, threshold, left);
    const typename data::frontier f{w.push.largest_residual(),
                                    w.push.residual_sum() / (1 - d.column_ratio)};
    const double others = d.put_in_order(w, options.k, f);
    const auto& all = w.candidates;
    const auto each = [&all](auto holds) { return std::all_of(all.begin(), all.end(), holds); };
    const auto complete = all.size() == options.k;
    result.certain = complete && each([&](const candidate& c) { return others <= c.low; });
    result.settled = complete && each([&](const candidate& c) {
                       const double margin = options.tolerance * (c.low + c.high);
                       return others <= c.low + margin && c.high - c.low <= margin;
                     });
    if (result.settled || left == 0 || f.largest <= first * lowest_residual)
      break;
  }
  for (const auto& c : w.candidates)
    if (c.low > 0)
      result.entries.push_back({c.place, (c.low + c.high) / 2, (c.high - c.low) / 2});
  result.pushes = options.push_limit - left;
  return result;
}

template class top_k_ranker<float>;
template class top_k_ranker<double>;

} // namespace basal::solver
