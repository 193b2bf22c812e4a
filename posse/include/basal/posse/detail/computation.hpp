#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <basal/executors/fwd.hpp>
#include <basal/posse/call_options.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/function_record.hpp>
#include <basal/posse/detail/memory_context.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/theft.hpp>

namespace basal::posse::detail {

/// How a computation was called.
struct call_info {
  const function_record* function = nullptr; ///< null: not declared
  const call_options* options = nullptr;     ///< null: the defaults
  bool offloaded = false;
};

/// State shared by the members of one posse. Lives in the frame of the call that began it, which
/// outlives all members.
class computation {
public:
  computation(runtime& its_host, const call_info& call, executors::stopwatch* its_account) noexcept
    : host(its_host),
      function(call.function),
      account(its_account),
      number(function_record::number_of(call.function)),
      options_(call.options) {
  }

  computation(const computation&) = delete;
  computation& operator=(const computation&) = delete;

  ~computation() {
    if (contexts_ != nullptr) [[unlikely]]
      leave_contexts();
  }

  /// For reports.
  const char* name() const noexcept {
    return function != nullptr ? function->name.load(std::memory_order_relaxed) : "a computation";
  }

  bool has_options() const noexcept {
    return options_ != nullptr;
  }

  /// Why the members should end, or `none`. Any member, at a safepoint. The
  /// first to find a reason makes the others look.
  cancel_reason why_cancelled(bool quantum_ended) noexcept;

  /// @throws cancelled if there is a reason
  void expect_not_cancelled();

  /// Bytes it may use on one executor.
  std::size_t memory_limit() const noexcept;

  bool has_memory_limit() const noexcept {
    return memory_limit() != memory_context::unlimited;
  }

  /// Bytes that an executor may hold of it and still run a continuation whose lineage held
  /// `lineage_bytes` at the fork: so it finds as much room as in sequence, except for a sixteenth
  /// of the limit. Otherwise every stack that is deeper now than at the fork would count as too
  /// full.
  std::size_t bytes_to_begin_with(std::size_t lineage_bytes) const noexcept;

  /// Executors that may be in the cabal.
  std::size_t cabal_limit() const noexcept;

  // -- memory that its members keep in the collected heap, under a limit ---------
  //
  // The collector knows which objects are alive, but not for whom. So allocated bytes are counted;
  // once they are beyond the limit, a collection shows by how much the heap has grown since the
  // computation began. Memory that others keep in the meantime counts, too; memory that they drop,
  // and garbage from before, lets the members keep as much more, but no more than the limit once
  // again.

  /// From now on. Before others know the computation.
  void count_collected() noexcept;

  /// Counts what the calling thread has allocated. Any member's thread.
  /// @throws memory_limit_exceeded when all members together keep more than the limit
  ///         times the size of the cabal
  void charge_collected(std::size_t bytes) {
    add_collected(bytes);
    if (counts_collected_ && collected_.load(std::memory_order_relaxed) > memory_limit())
      [[unlikely]]
      recount_collected();
  }

  /// Counts without a look at the limit.
  void add_collected(std::size_t bytes) noexcept {
    if (counts_collected_)
      collected_.fetch_add(bytes, std::memory_order_relaxed);
  }

  [[noreturn]] void throw_over_limit(const std::string& what);

  /// One executor has held that much of it. Counts it once when that is near the limit. Any
  /// member's thread.
  void note_use(std::size_t bytes) noexcept;

  /// The context of `where`, which joins the cabal if need be: for the executor
  /// that the computation began on. Null when there is no memory for it.
  memory_context* join(executors::executor& where) noexcept;

  struct target {
    memory_context* context = nullptr; ///< of the claimed executor, or null
    hatch* open = nullptr;             ///< that was claimed instead of the idle executor; or null
    bool was_awake = false;            ///< that executor, looking for work
    theft_verdict why_not = theft_verdict::nobody_idle;
  };

  /// Claims an idle compute executor that is in the cabal, or may join it, and
  /// that has room for what begins with `lineage_bytes`: one that waits at its hatch or else is
  /// awake if there is one, and one that sleeps only if it `may_wake` it. The caller delivers.
  target claim_target(executors::executor& from, std::size_t lineage_bytes, bool may_wake) noexcept;

  /// Whether an executor other than `self` is idle and may take a part of it: a snapshot.
  bool anybody_idle(const executors::executor& self) const noexcept;

  std::size_t cabal_size() const noexcept;

  runtime& host;
  const function_record* function; ///< null for an undeclared function
  executors::stopwatch* account;   ///< measures its caller; null if nobody does
  const std::uint32_t number;      ///< of the function

  /// The executor that its caller's own thread is, or null. It takes parts of this computation and
  /// of no other, since it must be done when this one ends. Constant once others know it.
  executors::executor* caller = nullptr;

  /// A delegate has merged that took so many ticks. Any member.
  void note_delegated(std::uint64_t ticks) noexcept {
    delegated_ticks_.fetch_add(ticks, std::memory_order_relaxed);
  }

  /// By the root, when all have merged.
  std::uint64_t delegated_ticks() const noexcept {
    return delegated_ticks_.load(std::memory_order_relaxed);
  }

  /// A victim has come to a merge. The theft was in vain if it had less to do meanwhile than that
  /// cost, and waits now. Any member.
  void note_theft(bool in_vain) noexcept {
    const auto before = vain_thefts();
    const auto after = in_vain ? std::min(before + 1, most_vain) : before / 2;
    if (after != before)
      vain_thefts_.store(after, std::memory_order_relaxed);
  }

  /// Thefts in vain lately, more than others: where a branch is short and the rest of the work is
  /// the other one, whoever takes that leaves nothing behind that could be done at the same time.
  std::uint32_t vain_thefts() const noexcept {
    return vain_thefts_.load(std::memory_order_relaxed);
  }

  /// For each but one, which may be chance, the next continuation of which nothing is known has to
  /// be twice as old.
  std::uint32_t doublings_of_age() const noexcept {
    const auto thefts = vain_thefts();
    return thefts - std::min(thefts, std::uint32_t{1});
  }

  /// As it begins: as it was at the end of the last one.
  void recall_vain_thefts(std::uint32_t thefts) noexcept {
    if (thefts != 0)
      vain_thefts_.store(thefts, std::memory_order_relaxed);
  }

private:
  static constexpr std::uint32_t most_vain = 8;

  bool claim_locked(executors::executor& where, hatch* open, std::size_t lineage_bytes,
                    target& result, std::unique_ptr<memory_context>& added) noexcept;
  memory_context* find_locked(const executors::executor& where) const noexcept;
  [[gnu::cold]] void leave_contexts() noexcept;
  [[gnu::noinline, gnu::cold]] void recount_collected();

  const call_options* options_;

  bool counts_collected_ = false;         ///< constant once others know the computation
  std::atomic<std::size_t> collected_{0}; ///< bytes; relaxed: a number by itself
  std::size_t of_others_ = 0;             ///< bytes in use; guarded by whoever recounts

  std::atomic<bool> near_limit_{false}; ///< relaxed: whoever sets it counts, nothing is published

  /// Written once by the member that finds it out. Relaxed: it only has to
  /// arrive.
  std::atomic<cancel_reason> cancelled_{cancel_reason::none};

  /// Held by the member that calls the probe. Acquire and release: the probe's
  /// own data.
  std::atomic_flag probing_;

  /// The cabal. Guards the list, which grows at thefts. In another line than what its delegates
  /// read, since each theft writes here.
  alignas(64) mutable std::mutex mutex_;
  std::unique_ptr<memory_context> contexts_;
  std::size_t cabal_size_ = 0;

  std::atomic<std::uint32_t> vain_thefts_{0}; ///< relaxed: a hint

  /// That delegates have taken which have merged.
  std::atomic<std::uint64_t> delegated_ticks_{0};
};

} // namespace basal::posse::detail
