#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <basal/priority/background_pool.hpp>
#include <basal/priority/detail/tiering_ladder.hpp>

namespace basal::priority {

/// When what is compiled, and how urgently.
struct tiering_config {
  /// Executions of an item from which each tier is worth compiling, tier 1
  /// first: 1 to `most_tiers` numbers of at least 1 that rise. The defaults are
  /// those of MeTTaTron's tiered execution: bytecode, optimised, native code.
  std::vector<std::uint64_t> thresholds = {2, 100, 500};

  /// How urgent compilations are.
  level at = level::background_compile;

  /// Of the tasks, so that runtimes are learned per tier: (name, tier).
  std::string name = "compile";

  /// Compile within the execution that finds a tier due, which waits for it:
  /// for comparisons, and for tests that must not depend on timing.
  bool in_caller = false;

  /// The most thresholds that there may be.
  static constexpr std::size_t most_tiers = detail::basic_tiering_ladder<>::most_tiers;

  /// @throws std::invalid_argument naming the field, its value and its range
  void validate() const;
};

/// Counts of the compilations to one tier, since the start.
struct tier_stats {
  std::uint64_t started = 0;           ///< the compiler was called
  std::uint64_t ready = 0;             ///< it made code
  std::uint64_t failed = 0;            ///< it threw, or returned null
  std::uint64_t superseded = 0;        ///< not called: a higher tier was ready
  std::uint64_t unrun = 0;             ///< not called: the pool had no room or was shut down
  std::chrono::nanoseconds spent{0};   ///< in the compiler
  std::chrono::nanoseconds longest{0}; ///< one call of it
};

/// Items that are executed over and over, and compiled in the background as
/// they turn out to be hot: an interpreter's functions, a database's queries.
///
/// Every item starts in tier 0, which needs no compilation. Each execution asks
/// its entry for the best code there is, and does not wait: when an item
/// reaches the threshold of a tier, one task is submitted that compiles it, at
/// level::background_compile, and executions use the result from when it is
/// ready. One compilation runs per item and tier, whoever executes it. A tier
/// that cannot be compiled is counted and left out; it is not tried again, and
/// higher tiers are tried in their turn.
///
///     tiering<query, plan> queries{pool, compile};
///     auto& q = queries.add(parse(text));   // once
///     auto [tier, code] = q.execute();      // each time
///     return code != nullptr ? code->run() : interpret(q.item());
///
/// `Item` is what the compiler reads; `Code` is what it makes. Members may be
/// called from any thread.
template <class Item, class Code>
class tiering {
public:
  /// Makes the code of an item for a tier, 1 and up. Runs on the pool's
  /// executors, several at a time, never twice for the same item and tier.
  /// Whatever it throws makes this tier of this item fail.
  using compiler = std::function<std::unique_ptr<const Code>(const Item&, std::size_t tier)>;

  /// The code to execute: in tier 0 `code` is null.
  struct choice {
    std::size_t tier = 0;       ///< that runs; 0: the item is interpreted
    const Code* code = nullptr; ///< lives as long as the tiering
  };

  /// An item and its code. Made by add().
  class entry {
  public:
    /// For tiering::add(). `owner` must outlive it.
    entry(tiering& owner, Item item)
      : owner_(owner), item_(std::move(item)), ladder_(owner.config_.thresholds.size()) {
    }

    /// The item that add() was given.
    const Item& item() const noexcept {
      return item_;
    }

    /// Counts one execution and tells what to run. May submit a compilation,
    /// never waits for one (but see tiering_config::in_caller). Costs an atomic
    /// addition while tiers are left to compile, and two loads after that.
    /// Throws nothing: what cannot be submitted is tried again later.
    choice execute() {
      if (!ladder_.settled()) [[unlikely]]
        submit_what_is_due(ladder_.count());
      return best();
    }

    /// The same without counting.
    choice best() const noexcept {
      const std::size_t tier = ladder_.best();
      return {tier, tier == 0 ? nullptr : codes_[tier - 1].get()};
    }

    /// @param tier 1 to the number of thresholds; here and below
    compile_state state(std::size_t tier) const noexcept {
      return ladder_.state(tier);
    }

    /// Why a tier failed; null if it did not.
    std::exception_ptr failure(std::size_t tier) const noexcept {
      return state(tier) == compile_state::failed ? failures_[tier - 1] : nullptr;
    }

    /// How often execute() was called, until there was nothing left to compile.
    std::uint64_t executions() const noexcept {
      return ladder_.executions();
    }

  private:
    friend class tiering;

    static constexpr std::size_t most = tiering_config::most_tiers;

    /// The right to compile a tier. Given back when it goes unused: when the
    /// queue is full, or the pool drops the task.
    class claimed {
    public:
      claimed(entry& e, std::size_t tier) noexcept : entry_(&e), tier_(tier) {
      }

      claimed(claimed&& other) noexcept
        : entry_(std::exchange(other.entry_, nullptr)), tier_(other.tier_) {
      }

      claimed& operator=(claimed&&) = delete;

      ~claimed() {
        if (entry_ == nullptr)
          return;
        entry_->owner_.counts_[tier_ - 1].unrun.fetch_add(1, std::memory_order_relaxed);
        entry_->ladder_.give_back(tier_);
      }

      void operator()() noexcept {
        std::exchange(entry_, nullptr)->compile(tier_);
      }

    private:
      entry* entry_;
      std::size_t tier_;
    };

    void submit_what_is_due(std::uint64_t executions) {
      // A claim that was given back is due again, but not at once: a full queue
      // should not cost every execution a try.
      constexpr std::uint64_t executions_between_tries = 64;
      const auto& thresholds = owner_.config_.thresholds;
      for (std::size_t tier = ladder_.best() + 1; tier <= thresholds.size(); ++tier) {
        if (executions < thresholds[tier - 1])
          return;
        const bool now
          = executions == thresholds[tier - 1] || executions % executions_between_tries == 0;
        if (now && ladder_.claim(tier))
          submit(tier);
      }
    }

    void submit(std::size_t tier) {
      claimed right{*this, tier};
      if (owner_.config_.in_caller) {
        right();
        return;
      }
      try {
        owner_.keep(owner_.pool_.try_submit(
          {owner_.config_.at, task_key{owner_.config_.name, tier}}, std::move(right)));
      } catch (const std::exception&) {
        // No memory for the task. The claim was given back, and the execution
        // goes on without.
      }
    }

    void compile(std::size_t tier) noexcept {
      auto& counts = owner_.counts_[tier - 1];
      if (ladder_.best() > tier) {
        counts.superseded.fetch_add(1, std::memory_order_relaxed);
        ladder_.end(tier, compile_state::superseded);
        return;
      }
      counts.started.fetch_add(1, std::memory_order_relaxed);
      const auto start = std::chrono::steady_clock::now();
      try {
        codes_[tier - 1] = owner_.compile_(item_, tier);
        if (codes_[tier - 1] == nullptr)
          throw std::runtime_error("basal: the compiler returned no code");
      } catch (...) {
        failures_[tier - 1] = std::current_exception();
      }
      counts.add(std::chrono::steady_clock::now() - start);
      if (failures_[tier - 1] != nullptr) {
        counts.failed.fetch_add(1, std::memory_order_relaxed);
        ladder_.end(tier, compile_state::failed);
      } else {
        counts.ready.fetch_add(1, std::memory_order_relaxed);
        ladder_.publish(tier);
      }
    }

    tiering& owner_;
    const Item item_;
    detail::basic_tiering_ladder<> ladder_;
    // Each element is written by who has claimed its tier, before the ladder says so.
    std::array<std::unique_ptr<const Code>, most> codes_;
    std::array<std::exception_ptr, most> failures_;
  };

  /// @param pool outlives the tiering
  /// @throws std::invalid_argument see tiering_config::validate; for no compiler
  tiering(background_pool& pool, compiler compile, tiering_config config = {})
    : pool_(pool), compile_(std::move(compile)), config_(std::move(config)) {
    config_.validate();
    if (!compile_)
      throw std::invalid_argument("basal: tiering needs a compiler, not an empty std::function");
  }

  tiering(const tiering&) = delete;
  tiering& operator=(const tiering&) = delete;

  /// Cancels the compilations that have not begun and waits for those that
  /// have. Nobody may be executing.
  ~tiering() {
    // All of them first: the end of one would let the next begin.
    std::erase_if(tasks_, [](auto& task) { return task.cancel(); });
    for (auto& task : tasks_)
      task.wait();
  }

  /// A new item, in tier 0. The entry stays where it is, as long as the tiering.
  entry& add(Item item) {
    const std::lock_guard guard{mutex_};
    return entries_.emplace_back(*this, std::move(item));
  }

  /// Of each tier, tier 1 first; a snapshot.
  std::vector<tier_stats> stats() const {
    std::vector<tier_stats> all;
    for (std::size_t i = 0; i < config_.thresholds.size(); ++i)
      all.push_back(counts_[i].read());
    return all;
  }

  /// The configuration that it was made with. Constant.
  const tiering_config& config() const noexcept {
    return config_;
  }

private:
  /// Statistics; nobody acts on them, so relaxed throughout.
  struct tier_counts {
    std::atomic<std::uint64_t> started{0}, ready{0}, failed{0}, superseded{0}, unrun{0};
    std::atomic<std::int64_t> spent_ns{0}, longest_ns{0};

    void add(std::chrono::nanoseconds t) noexcept {
      spent_ns.fetch_add(t.count(), std::memory_order_relaxed);
      auto longest = longest_ns.load(std::memory_order_relaxed);
      while (longest < t.count()
             && !longest_ns.compare_exchange_weak(longest, t.count(), std::memory_order_relaxed)) {
      }
    }

    tier_stats read() const noexcept {
      const auto get = [](const auto& n) { return n.load(std::memory_order_relaxed); };
      return {get(started),
              get(ready),
              get(failed),
              get(superseded),
              get(unrun),
              std::chrono::nanoseconds{get(spent_ns)},
              std::chrono::nanoseconds{get(longest_ns)}};
    }
  };

  /// Keeps the handle of a task, if it was accepted, for the destructor.
  void keep(task_handle<void> task) {
    if (!task.valid())
      return;
    const std::lock_guard guard{mutex_};
    try {
      std::erase_if(tasks_, [](const auto& t) { return t.is_ready(); });
      tasks_.push_back(std::move(task));
    } catch (...) { // no memory for the handle, so the destructor could not wait for it
      if (!task.cancel())
        task.wait();
      throw;
    }
  }

  background_pool& pool_;
  const compiler compile_;
  const tiering_config config_;
  std::array<tier_counts, tiering_config::most_tiers> counts_;
  std::mutex mutex_;
  std::deque<entry> entries_;            // guarded by mutex_; its elements need no lock
  std::vector<task_handle<void>> tasks_; // guarded by mutex_; those that may not have ended
};

} // namespace basal::priority
