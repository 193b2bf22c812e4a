#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace basal::executors {

/// One executor's record of what messages have taken it, for each kind of handler: while it was the
/// only one of its pool that worked, and beside others. A sample is of a turn, which is timed now
/// and then, and counts from the turn's beginning to the next one's, so that what it costs to come
/// by work is a part of it.
///
/// Each of the two is a record of one period, which others count: a sample of a later one clears
/// it. Written by its executor alone, read by any thread: relaxed, as the worst that comes of a sum
/// without its last sample, or of one that was cleared a moment ago, is a decision a period late.
class turn_costs {
public:
  /// Kinds of handlers, at most; those that find no place are not known.
  static constexpr std::size_t capacity = 64;

  /// An address or any other number; null is a kind of which nothing is to be known.
  using kind = const void*;

  /// The records of all executors of a pool in a period beside each other, and how long it would
  /// have taken one alone.
  struct evidence {
    std::uint64_t samples = 0;
    double took = 0;           ///< ticks of all samples
    double short_messages = 0; ///< of these, by kinds of handlers whose messages are short
    double known = 0;          ///< of these, by kinds of which it is known what they take alone
    double alone = 0; ///< ticks that it would have taken one alone; as long where that is not known
    double width = 0; ///< ticks times how many worked at the same time

    /// By what factor more was done than one would have alone; 1 without samples.
    double speedup() const noexcept {
      return took > 0 ? alone / took * (width / took) : 1;
    }
  };

  /// Where one executor works, since work stays.
  /// @param period of those in which it does
  /// @param messages that the turn handled, at least 1
  void note_alone(std::uint32_t period, kind of, std::uint64_t messages,
                  std::uint64_t ticks) noexcept {
    alone_.go_to(period);
    alone_.samples.add(1);
    if (auto* e = entry(of, alone_))
      e->add(ticks, messages);
  }

  /// Where several do.
  /// @param period of those in which work goes wherever somebody takes it
  /// @param width how many worked at the same time, at least 2
  void note_beside(std::uint32_t period, kind of, std::uint64_t messages, std::uint64_t ticks,
                   std::size_t width) noexcept {
    beside_.go_to(period);
    beside_.samples.add(1);
    beside_.ticks.add(ticks);
    beside_.width.add(ticks * width);
    if (auto* e = entry(of, beside_))
      e->add(ticks, messages);
  }

  /// Samples of such a period.
  std::uint64_t samples_alone(std::uint32_t period) const noexcept {
    return alone_.is_of(period) ? alone_.samples.get() : 0;
  }

  /// @param for_each calls what it is given with each of the pool's
  /// @param alone the period of which samples tell what kinds take alone
  /// @param long_message ticks: one that takes longer is not dearer for lines of the cache
  template <class ForEach>
  static evidence sum_up(ForEach for_each, std::uint32_t beside, std::uint32_t alone,
                         std::uint64_t long_message) noexcept {
    totals known_alone;
    for_each([&](const turn_costs& each) { known_alone.add(each, alone); });
    evidence result;
    for_each(
      [&](const turn_costs& each) { each.add_to(result, beside, known_alone, long_message); });
    return result;
  }

private:
  /// One writer; relaxed.
  class sum {
  public:
    void add(std::uint64_t n) noexcept {
      value_.store(get() + n, std::memory_order_relaxed);
    }
    std::uint64_t get() const noexcept {
      return value_.load(std::memory_order_relaxed);
    }
    void clear() noexcept {
      value_.store(0, std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> value_{0};
  };

  struct cost {
    sum ticks;
    sum messages;

    void add(std::uint64_t more_ticks, std::uint64_t more_messages) noexcept {
      ticks.add(more_ticks);
      messages.add(more_messages);
    }
  };

  struct record {
    std::atomic<std::uint32_t> period{0};
    sum samples, ticks, width;
    std::array<cost, capacity> of_kinds;

    bool is_of(std::uint32_t p) const noexcept {
      return period.load(std::memory_order_relaxed) == p;
    }

    void go_to(std::uint32_t p) noexcept {
      if (is_of(p))
        return;
      for (auto* each : {&samples, &ticks, &width})
        each->clear();
      for (auto& each : of_kinds) {
        each.ticks.clear();
        each.messages.clear();
      }
      period.store(p, std::memory_order_relaxed);
    }
  };

  /// Times that kinds take alone, of all executors together.
  class totals {
  public:
    void add(const turn_costs& costs, std::uint32_t period) noexcept {
      if (!costs.alone_.is_of(period))
        return;
      for (std::size_t i = 0; i < capacity; ++i)
        if (const auto of = costs.kinds_[i].load(std::memory_order_relaxed); of != nullptr)
          if (auto* place = find(of)) {
            place->of = of;
            place->ticks += static_cast<double>(costs.alone_.of_kinds[i].ticks.get());
            place->messages += static_cast<double>(costs.alone_.of_kinds[i].messages.get());
          }
    }

    /// Ticks of a message; 0 if too few are known.
    double message(kind of) noexcept {
      const auto* place = find(of);
      return place != nullptr && place->messages >= fewest ? place->ticks / place->messages : 0;
    }

  private:
    static constexpr double fewest = 4;

    struct total {
      kind of = nullptr;
      double ticks = 0;
      double messages = 0;
    };

    total* find(kind of) noexcept {
      for (std::size_t i = 0; i < probes; ++i)
        if (auto& place = totals_[place_of(of, i)]; place.of == nullptr || place.of == of)
          return &place;
      return nullptr;
    }

    std::array<total, capacity> totals_{};
  };

  /// Places at which a kind may be.
  static constexpr std::size_t probes = 4;

  static std::size_t place_of(kind of, std::size_t probe) noexcept {
    const auto hash
      = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(of)) * 0x9e37'79b9'7f4a'7c15u;
    return (static_cast<std::size_t>(hash >> 58) + probe) % capacity;
  }
  static_assert(capacity == std::size_t{1} << (64 - 58));

  cost* entry(kind of, record& in) noexcept {
    if (of == nullptr)
      return nullptr;
    for (std::size_t i = 0; i < probes; ++i) {
      const auto place = place_of(of, i);
      const auto there = kinds_[place].load(std::memory_order_relaxed);
      if (there == nullptr)
        kinds_[place].store(of, std::memory_order_relaxed);
      if (there == nullptr || there == of)
        return &in.of_kinds[place];
    }
    return nullptr;
  }

  void add_to(evidence& into, std::uint32_t period, totals& alone,
              std::uint64_t long_message) const noexcept {
    if (!beside_.is_of(period))
      return;
    const auto took = static_cast<double>(beside_.ticks.get());
    into.samples += beside_.samples.get();
    into.took += took;
    into.width += static_cast<double>(beside_.width.get());
    into.alone += took;
    for (std::size_t i = 0; i < capacity; ++i) {
      const auto ticks = static_cast<double>(beside_.of_kinds[i].ticks.get());
      const auto messages = static_cast<double>(beside_.of_kinds[i].messages.get());
      if (messages == 0)
        continue;
      if (ticks >= static_cast<double>(long_message) * messages)
        continue;
      into.short_messages += ticks;
      const auto message = alone.message(kinds_[i].load(std::memory_order_relaxed));
      if (message == 0)
        continue;
      into.known += ticks;
      into.alone += message * messages - ticks;
    }
  }

  std::array<std::atomic<kind>, capacity> kinds_{}; ///< never forgotten
  record alone_;
  record beside_;
};

} // namespace basal::executors
