#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>

#include <basal/executors/completion.hpp>
#include <basal/executors/detail/carrier.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/posse/detail/merge_latch.hpp>
#include <basal/posse/detail/parcel.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

class computation;
class memory_context;

using merge_latch = basic_merge_latch<std::atomic, executors::fiber*>;

/// A callable that may be a branch: it takes the member that runs it, or nothing.
template <class Branch>
concept branch = std::is_invocable_v<Branch&, member&> || std::is_invocable_v<Branch&>;

template <class Branch>
struct raw_result {
  static_assert(branch<Branch>,
                "a branch takes the member that runs it, as a reference, or nothing: "
                "m.fork_merge([&](basal::posse::member& left) { return f(left, 1); }, "
                "[&](basal::posse::member& right) { return f(right, 2); })");
};

template <class Branch>
requires std::is_invocable_v<Branch&, member&>
struct raw_result<Branch> {
  using type = std::invoke_result_t<Branch&, member&>;
};

template <class Branch>
requires(!std::is_invocable_v<Branch&,
                              member&> && std::is_invocable_v<Branch&>) struct raw_result<Branch> {
  using type = std::invoke_result_t<Branch&>;
};

template <class Branch>
using raw_result_t = typename raw_result<Branch>::type;

/// The result of calling `Branch` with a member, as a value; std::monostate for void, so that two
/// results always make a pair.
template <class Branch>
using branch_result_t = std::conditional_t<std::is_void_v<raw_result_t<Branch>>, std::monostate,
                                           std::decay_t<raw_result_t<Branch>>>;

/// Made in registers, and assigned to, at no cost. A trivial type may have a default constructor
/// that is deleted.
template <class Result>
inline constexpr bool is_small_result
  = std::is_trivial_v<Result>&& std::is_default_constructible_v<Result>&&
      std::is_move_assignable_v<Result> && sizeof(Result) <= 16;

/// Calls `branch`, with the member if it takes one.
template <class Branch>
[[gnu::always_inline]] inline decltype(auto) invoke_branch(Branch& branch,
                                                           [[maybe_unused]] member& m) {
  if constexpr (std::is_invocable_v<Branch&, member&>)
    return branch(m);
  else
    return branch();
}

/// The same; void becomes std::monostate.
template <class Branch>
[[gnu::always_inline]] inline branch_result_t<Branch> call_branch(Branch& branch, member& m) {
  if constexpr (std::is_void_v<raw_result_t<Branch>>) {
    invoke_branch(branch, m);
    return {};
  } else {
    return invoke_branch(branch, m);
  }
}

/// A right continuation on its way to, or on, another executor. Made by the
/// victim's executor at the theft, owned by the victim's frame, which destroys
/// it after the merge.
///
/// Protocol: the victim's executor fills it and delivers `sent` (the inbox or the hatch
/// publishes it). The delegate's executor begins it (basic_dispatch), writes `begun_at`, calls
/// `execute`, which stores the result, or stores what that threw in `error`, writes `ended_at`,
/// then ends it with finish_merge(). The victim reads all these once `merged` is set; or it takes
/// the delegation back and calls `execute` itself.
class delegation : public executors::visible_to_collector {
public:
  explicit delegation(computation& its_origin) noexcept : origin(its_origin) {
  }

  delegation(const delegation&) = delete;
  delegation& operator=(const delegation&) = delete;

  virtual ~delegation() = default;

  /// Runs the branch as part of `m` and keeps its result.
  virtual void execute(member& m) = 0;

  /// Nobody will see its result: a branch before it has failed.
  bool not_needed() const noexcept {
    for (auto* d = this; d != nullptr; d = d->victim)
      if (d->abandoned.load(std::memory_order_relaxed))
        return true;
    return false;
  }

  computation& origin;               ///< the computation that it is part of
  delegation* victim = nullptr;      ///< as what the victim runs; null: it is the root
  memory_context* context = nullptr; ///< of the executor it was sent to

  /// As at the fork: what it has beside the account is the computation's.
  executors::carried carried{executors::errand::branch};

  std::size_t lineage_bytes = 0; ///< held by its victims when the fork was made
  std::uint64_t stretch = 0;     ///< ticks between two of its victim's safepoints
  std::uint64_t expected = 0;    ///< ticks that it will take; 0: not known
  std::uint64_t taken_at = 0;    ///< ticks; 0: to run on the same executor
  std::uint64_t sent_at = 0;     ///< the same; 0: to an executor that was not awake, or to the same
  std::uint64_t begun_at = 0;    ///< ticks
  std::uint64_t ended_at = 0;    ///< ticks; 0: taken back
  merge_latch* latch = nullptr;  ///< of a victim that waits for all delegates

  /// Written by the victim's executor when left has failed, read at the
  /// delegate's safepoints. Relaxed: it only has to arrive.
  std::atomic<bool> abandoned{false};

  std::unique_ptr<parcel> sent; ///< null: taken back
  executors::completion merged;
  std::exception_ptr error; ///< thrown by the branch
};

/// @tparam Kept how it has the branch: as it is in the victim's frame, which outlives the merge, or
///              as a copy. That one a delegate finds without the frame, which is on another CPU.
template <class Branch, class Kept = Branch&>
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
  Kept branch_;
};

} // namespace basal::posse::detail
