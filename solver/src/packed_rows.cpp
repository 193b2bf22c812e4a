#include <basal/solver/detail/packed_rows.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver::detail {

namespace {

// Within this many rows, rows may change places to stand among others of their length. As large
// as the scattered results stay in the first-level cache.
constexpr index_type sorting_window = 512;

// Padding that is still cheaper than changing the order of rows, which costs a scatter and the
// fused kernels.
constexpr double tolerated_padding = 1.25;

// A run block reads 64 bytes, a gathered one 96 or more and takes several times as long.
constexpr double runs_per_gather = 1.5;

} // namespace

template <class T>
class packed_rows<T>::builder {
public:
  builder(packed_rows& into, const csr_matrix<T>& source) : into_(into), source_(source) {
  }

  void build() {
    choose_rows();
    into_.headers_.resize(static_cast<std::size_t>((into_.packed_count_ + lanes - 1) / lanes));
    for (std::size_t c = 0; c < into_.headers_.size(); ++c)
      plan_chunk(c);
    into_.values_ = aligned_array<T>{value_count_};
    into_.columns_ = aligned_array<index_type>{column_count_};
    T* values = into_.values_.data();
    index_type* columns = into_.columns_.data();
    for (std::size_t c = 0; c < into_.headers_.size(); ++c)
      fill_chunk(c, values, columns);
  }

private:
  index_type length(index_type row) const {
    return static_cast<index_type>(source_.row_columns(row).size());
  }

  void choose_rows() {
    const index_type n = source_.rows();
    std::size_t padded = 0;
    bool all_fit = true;
    for (index_type first = 0; first < n; first += lanes) {
      index_type longest = 0;
      for (index_type r = first; r < std::min(n, first + lanes); ++r) {
        longest = std::max(longest, length(r));
        all_fit = all_fit && length(r) > 0 && length(r) < long_row;
      }
      padded += static_cast<std::size_t>(longest) * static_cast<std::size_t>(lanes);
    }
    into_.packed_count_ = n;
    if (all_fit
        && static_cast<double>(padded) <= tolerated_padding * source_.nonzeros() + 2 * lanes)
      return;
    into_.in_order_ = false;
    for (index_type first = 0; first < n; first += sorting_window) {
      const auto begin = static_cast<std::ptrdiff_t>(into_.rows_.size());
      for (index_type r = first; r < std::min(n, first + sorting_window); ++r)
        (length(r) > 0 && length(r) < long_row ? into_.rows_ : into_.unpacked_rows_).push_back(r);
      std::stable_sort(into_.rows_.begin() + begin, into_.rows_.end(),
                       [this](index_type a, index_type b) { return length(a) > length(b); });
    }
    into_.packed_count_ = static_cast<index_type>(into_.rows_.size());
  }

  // The rows of chunk c, and how many there are.
  index_type rows_of(std::size_t c,
                     std::array<index_type, static_cast<std::size_t>(lanes)>& rows) const {
    const auto first = static_cast<index_type>(c) * lanes;
    const index_type count = std::min(lanes, into_.packed_count_ - first);
    for (index_type l = 0; l < count; ++l)
      rows[static_cast<std::size_t>(l)]
        = into_.in_order_ ? first + l : into_.rows_[static_cast<std::size_t>(first + l)];
    return count;
  }

  void plan_chunk(std::size_t c) {
    std::array<index_type, static_cast<std::size_t>(lanes)> rows;
    const index_type count = rows_of(c, rows);
    index_type longest = 0;
    for (index_type l = 0; l < count; ++l)
      longest = std::max(longest, length(rows[static_cast<std::size_t>(l)]));
    const bool runs
      = into_.in_order_ && count == lanes
        && collect_offsets(
          rows[0], static_cast<std::size_t>(runs_per_gather * static_cast<double>(longest)));
    const auto blocks = runs ? offsets_.size() : static_cast<std::size_t>(longest);
    into_.headers_[c] = static_cast<std::uint32_t>(2 * blocks + (runs ? 1 : 0));
    value_count_ += blocks * static_cast<std::size_t>(lanes);
    column_count_ += runs ? blocks : blocks * static_cast<std::size_t>(lanes);
  }

  void fill_chunk(std::size_t c, T*& values, index_type*& columns) {
    std::array<index_type, static_cast<std::size_t>(lanes)> rows;
    const index_type count = rows_of(c, rows);
    const auto blocks = static_cast<std::size_t>(into_.headers_[c] / 2);
    const auto entries = blocks * static_cast<std::size_t>(lanes);
    std::fill_n(values, entries, T{0});
    if ((into_.headers_[c] & 1) != 0) {
      collect_offsets(rows[0], blocks);
      fill_runs(rows[0], values, columns);
      columns += blocks;
    } else {
      fill_gathers(rows.data(), count, blocks, values, columns);
      columns += entries;
    }
    values += entries;
  }

  // The distinct distances from the diagonal in the chunk's rows, ascending; false if there are
  // more than `limit` or a run would reach beyond x.
  bool collect_offsets(index_type first, std::size_t limit) {
    offsets_.clear();
    for (index_type r = first; r < first + lanes; ++r) {
      merged_.clear();
      auto known = offsets_.begin();
      for (const index_type column : source_.row_columns(r)) {
        const index_type offset = column - r;
        for (; known != offsets_.end() && *known < offset; ++known)
          merged_.push_back(*known);
        if (known != offsets_.end() && *known == offset)
          ++known;
        merged_.push_back(offset);
      }
      merged_.insert(merged_.end(), known, offsets_.end());
      offsets_.swap(merged_);
      if (offsets_.size() > limit)
        return false;
    }
    return first + offsets_.front() >= 0 && offsets_.back() <= source_.columns() - lanes - first;
  }

  void fill_runs(index_type first, T* values, index_type* columns) const {
    for (std::size_t k = 0; k < offsets_.size(); ++k)
      columns[k] = first + offsets_[k];
    for (index_type l = 0; l < lanes; ++l) {
      const auto row_columns = source_.row_columns(first + l);
      const auto row_values = source_.row_values(first + l);
      std::size_t k = 0;
      for (std::size_t i = 0; i < row_columns.size(); ++i, ++k) {
        while (offsets_[k] != row_columns[i] - (first + l))
          ++k;
        values[k * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(l)] = row_values[i];
      }
    }
  }

  // Padding reads what its row reads last, so that a value that is not finite stays in its row.
  void fill_gathers(const index_type* rows, index_type count, std::size_t blocks, T* values,
                    index_type* columns) const {
    for (index_type l = 0; l < lanes; ++l) {
      const index_type row = rows[std::min(l, count - 1)];
      const auto row_columns = source_.row_columns(row);
      const auto row_values = source_.row_values(row);
      for (std::size_t k = 0; k < blocks; ++k) {
        const auto at = k * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(l);
        columns[at] = row_columns[std::min(k, row_columns.size() - 1)];
        if (l < count && k < row_columns.size())
          values[at] = row_values[k];
      }
    }
  }

  packed_rows& into_;
  const csr_matrix<T>& source_;
  std::vector<index_type> offsets_;
  std::vector<index_type> merged_;
  std::size_t value_count_ = 0;
  std::size_t column_count_ = 0;
};

template <class T>
packed_rows<T>::packed_rows(const csr_matrix<T>& source) {
  builder{*this, source}.build();
}

template <class T>
std::size_t packed_rows<T>::bytes() const noexcept {
  return headers_.size() * sizeof(headers_[0]) + values_.size() * sizeof(T)
         + (columns_.size() + rows_.size() + unpacked_rows_.size()) * sizeof(index_type);
}

template class packed_rows<float>;
template class packed_rows<double>;

} // namespace basal::solver::detail
