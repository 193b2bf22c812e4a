#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <variant>

#include <basal/executors/completion.hpp>
#include <basal/executors/inbox.hpp>
#include <basal/posse/detail/collector.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

class computation;

template <class Branch>
using raw_result_t = std::invoke_result_t<Branch&, member&>;

/// What calling `Branch` with a member returns, as a value; std::monostate for
/// void, so that two results always make a pair.
template <class Branch>
using branch_result_t = std::conditional_t<std::is_void_v<raw_result_t<Branch>>, std::monostate,
                                           std::decay_t<raw_result_t<Branch>>>;

/// Calls `branch`; void becomes std::monostate.
template <class Branch>
[[gnu::always_inline]] inline branch_result_t<Branch> call_branch(Branch& branch, member& m) {
  if constexpr (std::is_void_v<raw_result_t<Branch>>) {
    branch(m);
    return {};
  } else {
    return branch(m);
  }
}

/// A right continuation on its way to, or on, another executor. Made by the
/// victim's executor at the theft, owned by the victim's frame, which destroys
/// it after the merge.
///
/// Protocol: the victim's executor fills it and delivers `node` (the inbox
/// publishes it). The delegate's executor calls `execute`, which stores the
/// result, or stores what that threw in `error`, then sets `merged` and does
/// not touch it again. The victim reads result and error after merged.wait().
class delegation : public visible_to_collector {
public:
  explicit delegation(computation& its_origin) noexcept : origin(its_origin) {
  }

  delegation(const delegation&) = delete;
  delegation& operator=(const delegation&) = delete;

  virtual ~delegation() = default;

  /// Runs the branch as part of `m` and keeps its result.
  virtual void execute(member& m) = 0;

  computation& origin;        ///< the computation that it is part of
  executors::inbox_node node; ///< for the delegate's executor
  executors::completion merged;
  std::exception_ptr error; ///< what the branch threw
};

template <class Branch>
class typed_delegation final : public delegation {
public:
  typed_delegation(computation& its_origin, Branch& branch) noexcept
    : delegation(its_origin), branch_(branch) {
  }

  void execute(member& m) override {
    result.emplace(call_branch(branch_, m));
  }

  std::optional<branch_result_t<Branch>> result;

private:
  Branch& branch_; ///< in the victim's frame, which outlives the merge
};

} // namespace basal::posse::detail
