#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

#include <basal/executors/detail/collector.hpp>
#include <basal/posse/detail/per_executor.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// The values that the parts of a range have led to: one for all elements that an executor has gone
/// through one after the other, in however many steps.
template <class T>
class accumulators {
public:
  struct share : executors::visible_to_collector {
    share(std::size_t from, const T& empty) : begin(from), end(from), value(empty) {
    }

    const std::size_t begin;
    std::size_t end;
    T value;
  };

  using shares = executors::visible_vector<std::unique_ptr<share>>;

  explicit accumulators(T empty) : empty_(std::move(empty)) {
  }

  /// That of `m`'s executor whose elements end where `first` begins, or a new one.
  share& at(member& m, std::size_t first) {
    auto& own = of_executors_.at(m.executor()).value;
    for (auto it = own.rbegin(); it != own.rend(); ++it)
      if ((*it)->end == first)
        return **it;
    own.push_back(std::make_unique<share>(first, empty_));
    return *own.back();
  }

  const T& initial() const noexcept {
    return empty_;
  }

  /// All of them, in the order of elements.
  shares take() {
    shares all;
    of_executors_.for_each(
      [&](shares& own) { std::move(own.begin(), own.end(), std::back_inserter(all)); });
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a->begin < b->begin; });
    return all;
  }

private:
  const T empty_;
  per_executor<shares> of_executors_;
};

} // namespace basal::posse::detail
