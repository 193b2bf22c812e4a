#pragma once

#include <cstdint>
#include <utility>

#include <basal/mab/arm.hpp>
#include <basal/mab/detail/costs.hpp>
#include <basal/mab/family.hpp>
#include <basal/mab/grant.hpp>
#include <basal/mab/hints.hpp>
#include <basal/mab/outcome.hpp>
#include <basal/mab/policies.hpp>
#include <basal/mab/pressure.hpp>
#include <basal/mab/random.hpp>
#include <basal/mab/stats.hpp>

namespace basal::mab {

class decision;

/// Decides for one actor and one type of message where its handler runs, and
/// learns from what became of it.
///
/// Belongs to its actor: calls must not overlap, but may come from one thread
/// after the other (a handler that was offloaded may finish its decision there).
/// No locks; no allocation; nothing here throws. The cost of a choice: `./dev bench mab`.
///
/// Lives no longer than its family and no shorter than its decisions; it does
/// not move.
class chooser {
public:
  /// Adopts what `shared` has learned at its first decision. `shared` must outlive it.
  explicit chooser(family& shared) noexcept;

  /// Reports what the family does not know yet.
  ~chooser();

  chooser(const chooser&) = delete;
  chooser& operator=(const chooser&) = delete;

  /// Decides where to run the handler now. Exactly one outcome belongs to each decision. The hint
  /// matters at the first decision only.
  template <random_source Random>
  [[nodiscard]] decision choose(const load& now, Random& random,
                                compute_hint hint = compute_hint::unknown);

  /// How many messages may follow the newest decision, whose outcome is known,
  /// without one of their own. None unless inline is right by a margin, the
  /// function time settled, and no guardrail within reach of any load.
  grant next_grant() const noexcept;

  /// The same for new actors of its family on this executor, which have no chooser yet: how many
  /// may run by what the newest decision and its outcome say. None before the family is settled.
  grant next_newcomers() const noexcept;

  /// Learns that `runs` inline runs of a grant, none of which reached its limit,
  /// took `total` of function time together. A total that is no time is clamped or, NaN,
  /// not measured, as in outcome.
  void finish_granted(std::uint32_t runs, microseconds total) noexcept;

  /// The token of a run of a grant that reached the limit, and tells it by itself.
  /// Also of the first run of an actor that had no chooser (newcomers).
  [[nodiscard]] decision granted() noexcept;

  /// The numbers behind the newest decision; reason::none before the first.
  const rationale& last() const noexcept {
    return last_;
  }

  /// Counts of this chooser alone, including those that its family does not know yet.
  const stats& counters() const noexcept {
    return stats_;
  }

  /// Its present belief about the costs of both arms.
  const costs& believed() const noexcept {
    return costs_;
  }

  /// The family that it was made with.
  const family& shared() const noexcept {
    return *family_;
  }

  /// The average function time in us that the guardrails see; 0 while unknown.
  /// A hint or prior fades out over hint_trust_threshold outcomes, even if they
  /// did not tell the function time: then it is better tried than feared for ever.
  double effective_ema_us() const noexcept {
    const double trust = family_->settings().hint_trust_threshold;
    const auto outcomes = static_cast<double>(stats_[event::finished]);
    if (expected_us_ == 0 || outcomes >= trust)
      return ema_us_;
    const double weight = 1 - outcomes / trust;
    return weight * expected_us_ + (1 - weight) * ema_us_;
  }

  /// Slow inline runs that are not forgotten yet, fading by knobs::strike_decay; GR3 acts from
  /// knobs::s_max on.
  double strikes() const noexcept {
    return strikes_;
  }

private:
  friend class decision;

  void meet(compute_hint hint) noexcept;
  grant allowed(const posterior& function_time, double offload_log) const noexcept;
  void count(const rationale& r) noexcept;
  void finish(arm ran, const outcome& o) noexcept;
  void count_finished(std::uint32_t outcomes) noexcept;
  void observe(arm ran, const outcome& o) noexcept;
  void learn_strike(arm ran, std::optional<double> function_us) noexcept;
  void fade_strikes(double share) noexcept;
  std::optional<double> clamped(std::optional<microseconds> x) noexcept;
  void publish() noexcept;
  void listen() noexcept;

  family* family_;
  costs costs_;

  // Guardrails.
  double ema_us_ = 0;
  double strikes_ = 0;
  std::uint64_t observations_ = 0; // of the function time

  // Before the first observation.
  double expected_us_ = 0; // by prior or hint; 0: neither
  std::uint32_t forced_offloads_ = 0;
  bool met_ = false;
  bool adopted_ = false;

  rationale last_;
  stats stats_;
  stats published_;
  std::uint64_t heard_trials_ = 0; // of the family's, when it began or last listened
};

/// The token of one decision, which must be finished with its outcome. Dropped
/// without one, it counts as abandoned and teaches nothing. Not thread-safe.
class [[nodiscard]] decision {
public:
  /// This token is to be finished; `other` no longer counts as dropped.
  decision(decision&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), choice_(other.choice_), open_(other.open_) {
  }

  decision& operator=(decision&&) = delete;

  ~decision() {
    if (owner_ != nullptr && open_)
      ++owner_->stats_[event::abandoned];
  }

  /// The place where the handler is to run.
  arm choice() const noexcept {
    return choice_;
  }

  /// Learns from the outcome. A second one is counted and otherwise ignored.
  void finish(const outcome& o) noexcept {
    if (owner_ == nullptr)
      return; // moved from: the other token finishes
    if (std::exchange(open_, false))
      owner_->finish(choice_, o);
    else
      ++owner_->stats_[event::finished_twice];
  }

private:
  friend class chooser;

  decision(chooser& owner, arm choice) noexcept : owner_(&owner), choice_(choice) {
  }

  chooser* owner_;
  arm choice_;
  bool open_ = true;
};

inline decision chooser::granted() noexcept {
  if (observations_ == 0)
    meet(compute_hint::unknown);
  ++stats_[event::inline_decision];
  return {*this, arm::inline_here};
}

template <random_source Random>
decision chooser::choose(const load& now, Random& random, compute_hint hint) {
  const auto& k = family_->settings();
  if (observations_ == 0) [[unlikely]]
    meet(hint);
  const evidence seen{costs_,
                      effective_ema_us(),
                      strikes_,
                      forced_offloads_ > 0,
                      stats_[event::inline_decision],
                      stats_[event::offload_decision]};
  last_ = decide(seen, now, k, random);
  count(last_);
  return {*this, last_.choice};
}

} // namespace basal::mab
