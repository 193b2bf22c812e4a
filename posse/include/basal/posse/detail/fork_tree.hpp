#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse {
namespace detail {

/// Forks the `Count` branches from the one at `First` on as a binary tree, and
/// returns their results as a tuple. `branches` is a tuple of references.
template <std::size_t First, std::size_t Count, class Branches>
auto fork_tree(member& m, Branches& branches) {
  using std::get;
  if constexpr (Count == 1) {
    auto& branch = get<First>(branches);
    return std::tuple<branch_result_t<std::remove_reference_t<decltype(branch)>>>{
      call_branch(branch, m)};
  } else {
    constexpr auto left = (Count + 1) / 2;
    auto both = m.fork_merge(
      [&branches](member& k) { return fork_tree<First, left>(k, branches); },
      [&branches](member& k) { return fork_tree<First + left, Count - left>(k, branches); });
    return std::tuple_cat(std::move(both.first), std::move(both.second));
  }
}

} // namespace detail

template <class First, class Second, class Third, class... More>
auto member::fork_merge(First&& first, Second&& second, Third&& third, More&&... more)
  -> std::tuple<detail::branch_result_t<std::remove_reference_t<First>>,
                detail::branch_result_t<std::remove_reference_t<Second>>,
                detail::branch_result_t<std::remove_reference_t<Third>>,
                detail::branch_result_t<std::remove_reference_t<More>>...> {
  std::tuple<First&, Second&, Third&, More&...> branches{first, second, third, more...};
  return detail::fork_tree<0, 3 + sizeof...(More)>(*this, branches);
}

} // namespace basal::posse
