#include "support/interleave/explore.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <stdexcept>
#include <vector>

#include "support/interleave/run.hpp"

namespace basal::interleave {

namespace {

/// Walks the tree of choices depth first. The path to the current leaf is all
/// that it remembers.
class depth_first : public chooser {
public:
  explicit depth_first(const limits& bounds) : bounds_(bounds) {
    restart();
  }

  std::uint32_t choose(choice kind, std::uint32_t options) override {
    auto* left = kind == choice::preemption ? &preemptions_left_
                 : kind == choice::anomaly  ? &anomalies_left_
                                            : nullptr;
    auto allowed = left != nullptr && *left == 0 ? 1 : options;
    if (next_ == path_.size())
      path_.push_back({0, allowed});
    const auto& here = path_[next_++];
    if (here.options != allowed) {
      std::fprintf(stderr, "interleave: the scenario does not do the same each time\n");
      std::abort();
    }
    if (here.chosen != 0 && left != nullptr)
      --*left;
    return here.chosen;
  }

  /// @returns false when every schedule was run
  bool advance() {
    while (!path_.empty() && path_.back().chosen + 1 == path_.back().options)
      path_.pop_back();
    if (path_.empty())
      return false;
    ++path_.back().chosen;
    restart();
    return true;
  }

private:
  struct node {
    std::uint32_t chosen;
    std::uint32_t options;
  };

  void restart() {
    next_ = 0;
    preemptions_left_ = bounds_.preemptions;
    anomalies_left_ = bounds_.anomalies;
  }

  const limits& bounds_;
  std::vector<node> path_;
  std::size_t next_ = 0;
  std::uint32_t preemptions_left_ = 0;
  std::uint32_t anomalies_left_ = 0;
};

/// Interrupts and misleads threads with a probability that it draws anew for
/// each run: bugs that need many switches hide from rare ones, and those that
/// need a long undisturbed stretch hide from frequent ones.
class at_random : public chooser {
public:
  at_random(std::uint64_t seed, std::uint64_t number) : state_(seed * 0x9e3779b97f4a7c15ull) {
    state_ += number * 0xd1342543de82ef95ull;
    preemption_odds_ = 2u << below(5); // one in 2 to one in 32
    anomaly_odds_ = 2u << below(5);
  }

  std::uint32_t choose(choice kind, std::uint32_t options) override {
    switch (kind) {
    case choice::preemption:
      return below(preemption_odds_) == 0 ? 1 + below(options - 1) : 0;
    case choice::anomaly:
      return below(anomaly_odds_) == 0 ? 1 + below(options - 1) : 0;
    default:
      return below(options);
    }
  }

private:
  /// splitmix64 (Steele, Lea, Flood 2014), mapped to the range by
  /// multiplication.
  std::uint32_t below(std::uint32_t bound) {
    auto z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return static_cast<std::uint32_t>(((z >> 32) * bound) >> 32);
  }

  std::uint64_t state_;
  std::uint32_t preemption_odds_;
  std::uint32_t anomaly_odds_;
};

/// Makes the choices that a failed run has noted down.
class as_noted : public chooser {
public:
  explicit as_noted(std::string_view schedule) {
    if (schedule == "-")
      return;
    std::string text{schedule};
    for (std::size_t at = 0; at <= text.size();) {
      auto end = std::min(text.find('.', at), text.size());
      unsigned position = 0;
      unsigned picked = 0;
      int length = 0;
      auto part = text.substr(at, end - at);
      if (std::sscanf(part.c_str(), "%u:%u%n", &position, &picked, &length) != 2
          || static_cast<std::size_t>(length) != part.size())
        throw std::invalid_argument("not a schedule: '" + text
                                    + "'; it looks like 3:1.17:2 (position:choice) or -");
      choices_[position] = picked;
      at = end + 1;
    }
  }

  std::uint32_t choose(choice, std::uint32_t options) override {
    auto found = choices_.find(next_++);
    return found == choices_.end() ? 0 : std::min(found->second, options - 1);
  }

private:
  std::map<std::uint32_t, std::uint32_t> choices_;
  std::uint32_t next_ = 0;
};

std::uint64_t number_from_environment(const char* variable, std::uint64_t otherwise) {
  const auto* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

} // namespace

/// Runs a scenario again and again on the same stacks.
class explorer {
public:
  explorer(std::string_view name, const scenario& body, const limits& bounds)
    : body_(body), bounds_(bounds) {
    found.name = name;
    stacks_.emplace_back(); // the scenario's own
  }

  /// @returns whether the run held
  bool execute(chooser& c, bool traced = false) {
    run r{c, bounds_, stacks_, traced};
    try {
      body_(r);
    } catch (const violation&) {
      found.failed = true;
      found.what = r.failure_;
      found.schedule = notation(r);
    }
    ++found.schedules;
    found.steps += r.steps_;
    found.trace.clear();
    auto skip = r.trace_.size() > max_trace ? r.trace_.size() - max_trace : 0;
    for (auto i = skip; i < r.trace_.size(); ++i)
      found.trace += r.trace_[i] + "\n";
    return !found.failed;
  }

  /// After a failure: the same run with its trace.
  outcome finish() {
    if (found.failed) {
      as_noted again{found.schedule};
      execute(again, true);
      --found.schedules;
    }
    return found;
  }

  outcome found;

private:
  static constexpr std::size_t max_trace = 80;

  static std::string notation(const run& r) {
    std::string result;
    for (auto [position, picked] : r.deviations_) {
      if (!result.empty())
        result += '.';
      result += std::to_string(position) + ":" + std::to_string(picked);
    }
    return result.empty() ? "-" : result;
  }

  const scenario& body_;
  const limits& bounds_;
  std::deque<coroutine> stacks_;
};

namespace {

/// When BASAL_MODEL_REPLAY is set: whether it was obeyed, into `result`.
bool replayed_instead(std::string_view name, const scenario& body, const limits& bounds,
                      outcome& result) {
  const auto* wanted = std::getenv("BASAL_MODEL_REPLAY");
  if (wanted == nullptr)
    return false;
  std::string_view text{wanted};
  result.name = name;
  auto slash = text.rfind('/');
  if (slash == std::string_view::npos || text.substr(0, slash) != name)
    return true;
  result = replay(name, body, text.substr(slash + 1), bounds);
  result.complete = true; // as far as was asked
  std::fprintf(stderr, "%s%s", result.trace.c_str(), result.text().c_str());
  return true;
}

} // namespace

outcome explore_all(std::string_view name, const scenario& body, limits bounds) {
  if (outcome result; replayed_instead(name, body, bounds, result))
    return result;
  explorer e{name, body, bounds};
  depth_first c{bounds};
  do {
    if (e.found.schedules == bounds.schedules)
      return e.finish();
    if (!e.execute(c))
      return e.finish();
  } while (c.advance());
  e.found.complete = true;
  return e.finish();
}

outcome explore_random(std::string_view name, const scenario& body, std::uint64_t schedules,
                       limits bounds) {
  if (outcome result; replayed_instead(name, body, bounds, result))
    return result;
  explorer e{name, body, bounds};
  auto seed = number_from_environment("BASAL_MODEL_SEED", 1);
  for (std::uint64_t i = 0; i < schedules; ++i) {
    at_random c{seed, i};
    if (!e.execute(c))
      break;
  }
  return e.finish();
}

std::uint64_t random_schedules() {
  return number_from_environment("BASAL_MODEL_SCHEDULES", 10'000) / sanitizer_slowdown();
}

outcome replay(std::string_view name, const scenario& body, std::string_view schedule,
               limits bounds) {
  explorer e{name, body, bounds};
  as_noted c{schedule};
  e.execute(c, true);
  return e.found;
}

std::string outcome::text() const {
  auto result = "model: " + name + ": " + std::to_string(schedules) + " schedules, "
                + std::to_string(steps) + " operations: ";
  if (!failed)
    return result + "held\n";
  return result + "FAILED\n  " + what + "\n" + trace + "  replay: BASAL_MODEL_REPLAY='" + name + "/"
         + schedule + "'\n";
}

} // namespace basal::interleave
