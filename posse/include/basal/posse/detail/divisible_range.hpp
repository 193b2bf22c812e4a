#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <basal/posse/detail/division_trial.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_place.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/detail/shared_range.hpp>
#include <basal/posse/detail/short_range.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// One for each type of body of a range_fork.
struct fork_place : range_place<void> {
  std::array<division_trial, range_sites::classes> trials{}; ///< for ranges of each size
};

extern template class short_range<fork_place>;

/// A range_fork without the type of its body, see there: a range as one node, that is divided when
/// somebody takes from it.
class divisible_range : private short_range<fork_place> {
public:
  divisible_range(const divisible_range&) = delete;
  divisible_range& operator=(const divisible_range&) = delete;

protected:
  /// @param body is there during run()
  /// The others: as for range_fork.
  divisible_range(fork_place& place, void* body, int each, std::size_t most_steps,
                  std::size_t least_step, std::uint64_t least_part) noexcept
    : short_range(place, body, each),
      most_steps_(most_steps),
      least_(least_step),
      least_part_(least_part) {
  }

  ~divisible_range() = default;

  /// Does the elements [first, last), one at least.
  /// @param call see short_range::run_at_once
  template <class Call>
  [[gnu::always_inline]] inline void run(member& m, std::size_t first, std::size_t last,
                                         Call call) {
    choose_site(last - first);
    const auto how = choose_way(m, site(), last - first, each_);
    if (how == way::at_once)
      run_at_once(place_, m, call);
    else
      run_otherwise(m, first, last, how);
  }

  /// The node of a member: the elements that it has not begun, [next, end), at least one while the
  /// node is in the list. Where an element fails, those from there on are not wanted.
  class rest : public right_continuation {
  public:
    /// Makes it the member's youngest node.
    /// @param alone ticks; it must not be divided before. 0: it may be
    rest(member& m, divisible_range& in, std::size_t first, std::size_t last,
         pace::element_cost each, std::uint64_t alone) noexcept
      : right_continuation(m.youngest_, ops),
        next(first),
        end(last),
        range(&in),
        cost(each),
        alone_until(alone) {
      m.youngest_ = this;
    }

    std::size_t next;
    std::size_t end;
    divisible_range* range;
    pace::element_cost cost;
    std::uint64_t alone_until; ///< see above
    std::uint64_t safepoints;  ///< of the member, as of its last look at the pace

  private:
    static detail::delegation* delegate(right_continuation& self, computation& origin,
                                        division how) noexcept;
    static std::uint64_t expected(const right_continuation& self, std::uint64_t like) noexcept;
    static bool is_better_alone(const right_continuation& self) noexcept;

    static const operations ops;
  };

  /// Leaves the node's frame early: an element failed, and those from `from` on are not wanted.
  struct unwinding_guard {
    divisible_range& range;
    member& self;
    std::size_t& from;
    bool armed = true;

    [[gnu::always_inline]] ~unwinding_guard() {
      if (armed)
        range.abandon(self, from);
    }
  };

  /// Nobody took the node's elements: the member does the last ones without it.
  static void unlink(member& m, const rest& node) noexcept {
    m.youngest_ = node.older();
  }

  /// A thief took the upper part of the node's elements: does the others, and merges.
  void share(member& m, rest& node, pace steps);

private:
  void run_otherwise(member& m, std::size_t first, std::size_t last, way how);
  [[gnu::cold]] void abandon(member& m, std::size_t from) noexcept;
  std::size_t most_together(const member& m, std::size_t n, bool by_far) const noexcept;
  std::size_t least_for(const member& m, std::size_t n) const noexcept;
  struct two_lengths;
  two_lengths lengths_to_try(const member& m, std::size_t n, const pace& steps) const noexcept;
  pace try_longer_steps(member& m, std::size_t& first, std::size_t last, pace steps, rest* node);
  void run_all(member& m, std::size_t first, std::size_t last, pace steps);
  void run_steps(member& m, std::size_t first, std::size_t last, pace steps,
                 std::uint64_t alone_until = 0);
  pace look(member& m, rest& node, std::size_t& first, pace steps);
  pace::element_cost usual(std::uint64_t now, std::size_t left) const noexcept;
  void learn(std::uint64_t now, std::size_t n) const noexcept;

  const std::size_t most_steps_;
  std::size_t least_; ///< elements in a step
  const std::uint64_t least_part_;
  std::uint64_t expected_ = 0; ///< ticks, of all elements, by ranges before this one; 0: not known
  std::uint64_t begun_ = 0;    ///< ticks; 0: of a few elements that fork it is not known
  std::uint64_t busy_ = 0;     ///< ticks, of all members together, if it was divided
  std::unique_ptr<shared_range> shared_; ///< from the theft on
};

} // namespace basal::posse::detail
