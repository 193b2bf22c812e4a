// Computations in a dump: the members that run on the fibers, and who was stolen from whom.

#include <basal/posse/dump.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include <basal/executors/dump.hpp>
#include <basal/executors/executor.hpp>
#include <basal/posse/detail/charge_frame.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/memory_context.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse {

namespace detail {

namespace {

constexpr std::size_t most_members = 4;    // one within the other, on one fiber
constexpr std::size_t most_delegates = 10; // of one member
constexpr int most_nodes = 64;             // of one member that are looked at
constexpr int most_lines = 1000;           // of all trees

enum class progress : std::uintptr_t { sent, begun, ended };

/// A branch that a member has given away.
struct given_away {
  const delegation* branch;
  const executors::executor* to;
  progress state;
};

/// One member, as its executor has noted it.
struct sighting {
  const char* name = nullptr; ///< its computation's
  const computation* origin = nullptr;
  const delegation* as = nullptr;      ///< its own branch; null: it is the root
  const delegation* victim = nullptr;  ///< the victim's branch; null: the root
  const delegation* awaited = nullptr; ///< that it waits for at a merge, or null
  std::vector<given_away> delegates;
  const executors::executor* where = nullptr;
  const char* waits_for = nullptr; ///< null: it runs
  double waited_ms = 0;
  std::size_t outer = none; ///< the member that has called this computation
  std::size_t inner = none; ///< the member of the computation that this one has called

  static constexpr auto none = static_cast<std::size_t>(-1);
};

std::string milliseconds(double ms) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.1f ms", ms);
  return text.data();
}

} // namespace

/// The paragraph on computations. note() writes the words that add() reads: the number of members,
/// then each, innermost first.
class computation_dump final : public executors::dump_part {
public:
  std::size_t note(executors::fiber& f, bool runs,
                   std::span<std::uintptr_t> words) noexcept override {
    writer to{words};
    std::uintptr_t count = 0;
    to.put(count); // its place
    for (auto* frame = innermost_charge(f); frame != nullptr; frame = frame->outer)
      if (frame->running != nullptr && &frame->running->charge_ == frame && count < most_members) {
        if (!note(*frame->running, runs, to))
          break;
        ++count;
      }
    words[0] = count;
    return count == 0 ? 0 : to.used;
  }

  void add(const executors::dumped_fiber& f) override {
    reader from{f.words};
    const auto count = from.get();
    for (std::uintptr_t i = 0; i < count; ++i) {
      auto s = member_from(from);
      s.where = &f.home;
      s.waits_for = f.waits_for;
      s.waited_ms = std::chrono::duration<double, std::milli>{f.waited}.count();
      if (i > 0) { // it has called the one before
        s.inner = seen_.size() - 1;
        seen_.back().outer = seen_.size();
      }
      seen_.push_back(std::move(s));
    }
  }

  std::string text() override {
    if (seen_.empty())
      return {};
    std::map<const delegation*, std::size_t> running;
    std::map<const computation*, std::size_t> roots;
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (seen_[i].as != nullptr)
        running.emplace(seen_[i].as, i);
      else
        roots.emplace(seen_[i].origin, i);
    below_.resize(seen_.size());
    std::vector<bool> has_victim(seen_.size());
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const auto& s = seen_[i];
      auto parent = s.outer;
      if (s.as != nullptr && s.victim != nullptr)
        parent = found(running, s.victim);
      else if (s.as != nullptr)
        parent = found(roots, s.origin);
      if (parent == sighting::none || parent == i)
        continue;
      has_victim[i] = true;
      below_[parent].push_back(i);
    }
    text_ = "\ncomputations:\n";
    told_.resize(seen_.size());
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (!has_victim[i])
        begin_tree(i);
    // Executors answer at different times, so addresses that were used twice could make a circle.
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (!told_[i])
        tell(i, 0);
    for (const auto& [what, g] : alone_)
      tell(what, g);
    if (left_out_ > 0)
      text_ += "and " + std::to_string(left_out_) + " members more\n";
    return std::move(text_);
  }

private:
  struct writer {
    std::span<std::uintptr_t> words;
    std::size_t used = 0;

    std::size_t room() const noexcept {
      return words.size() - used;
    }
    void put(std::uintptr_t word) noexcept {
      words[used++] = word;
    }
    void put(const void* pointer) noexcept {
      put(reinterpret_cast<std::uintptr_t>(pointer));
    }
  };

  struct reader {
    std::span<const std::uintptr_t> words;
    std::size_t used = 0;

    std::uintptr_t get() noexcept {
      return words[used++];
    }
    template <class T>
    const T* pointer() noexcept {
      return reinterpret_cast<const T*>(get());
    }
  };

  /// The fields read of a member on a fiber that runs are constant from its beginning on. One
  /// that is suspended stands still but for thefts from it (see mark_taken), and so do its
  /// delegations, which its frames own.
  static bool note(const member& m, bool runs, writer& to) noexcept {
    constexpr std::size_t own_words = 6;
    if (to.room() < own_words)
      return false;
    to.put(m.origin_->name());
    to.put(m.origin_);
    to.put(m.as_);
    to.put(m.as_ != nullptr ? m.as_->victim : nullptr);
    to.put(runs ? nullptr : m.awaited_);
    const auto at = to.used;
    std::uintptr_t count = 0;
    to.put(count);
    auto add = [&](const delegation& d) {
      if (count == most_delegates || to.room() < 3 || d.sent == nullptr)
        return;
      to.put(&d);
      to.put(d.context->where);
      const auto state = d.merged.is_set()              ? progress::ended
                         : d.sent->dispatch.has_begun() ? progress::begun
                                                        : progress::sent;
      to.put(static_cast<std::uintptr_t>(state));
      ++count;
    };
    if (!runs) {
      if (m.awaited_ != nullptr)
        add(*m.awaited_);
      const auto* node = m.youngest_;
      for (int i = 0; node != nullptr && i < most_nodes; node = node->older(), ++i)
        if (node->is_taken())
          add(*node->delegation);
    }
    to.words[at] = count;
    return true;
  }

  static sighting member_from(reader& from) {
    sighting s;
    s.name = from.pointer<char>();
    s.origin = from.pointer<computation>();
    s.as = from.pointer<delegation>();
    s.victim = from.pointer<delegation>();
    s.awaited = from.pointer<delegation>();
    s.delegates.resize(from.get());
    for (auto& d : s.delegates)
      d = {from.pointer<delegation>(), from.pointer<executors::executor>(),
           static_cast<progress>(from.get())};
    return s;
  }

  template <class Key>
  static std::size_t found(const std::map<const Key*, std::size_t>& all, const Key* key) {
    const auto at = all.find(key);
    return at == all.end() ? sighting::none : at->second;
  }

  /// Computations in one piece that wait for the same.
  struct group {
    std::map<std::string, std::size_t> executors;
    std::size_t count = 0;
    double shortest_ms = 0;
    double longest_ms = 0;
  };
  using group_key = std::tuple<std::string, std::string>;

  void begin_tree(std::size_t i) {
    const auto& s = seen_[i];
    if (s.as != nullptr || !below_[i].empty() || !s.delegates.empty() || s.waits_for == nullptr) {
      tell(i, 0);
      return;
    }
    told_[i] = true;
    auto& g = alone_[{s.name, s.waits_for}];
    ++g.executors[s.where->name()];
    g.shortest_ms = g.count == 0 ? s.waited_ms : std::min(g.shortest_ms, s.waited_ms);
    g.longest_ms = std::max(g.longest_ms, s.waited_ms);
    ++g.count;
  }

  void tell(const group_key& what, const group& g) {
    const auto& [name, waits_for] = what;
    text_ += std::to_string(g.count) + " of " + name + " without delegates, "
             + (g.count == 1 ? "waits for " : "wait for ") + waits_for + ", for "
             + milliseconds(g.shortest_ms);
    if (g.count > 1)
      text_ += " to " + milliseconds(g.longest_ms);
    text_ += '\n';
    for (const auto& [executor, count] : g.executors)
      text_ += "    " + std::to_string(count) + " on " + executor + '\n';
  }

  void line(std::size_t depth, std::string_view text) {
    constexpr std::size_t deepest = 32; // where it is still read
    text_.append(2 * std::min(depth, deepest), ' ');
    text_ += text;
    text_ += '\n';
    ++lines_;
  }

  /// `i` and what was stolen from it.
  void tell(std::size_t i, std::size_t depth) {
    if (told_[i])
      return;
    told_[i] = true;
    if (lines_ >= most_lines) {
      ++left_out_;
    } else {
      const auto& s = seen_[i];
      std::string who = s.as == nullptr ? s.name : "delegate";
      if (depth == 0 && s.as != nullptr)
        who = std::string{s.name} + ", a delegate whose victim was not seen,";
      line(depth, who + " on " + s.where->name() + ": " + state_of(s));
      for (const auto& d : s.delegates)
        if (std::none_of(below_[i].begin(), below_[i].end(),
                         [&](std::size_t b) { return seen_[b].as == d.branch; }))
          line(depth + 1, state_of(d));
    }
    for (const auto b : below_[i])
      tell(b, depth + 1);
  }

  std::string state_of(const sighting& s) const {
    if (s.inner != sighting::none)
      return std::string{"has called "} + seen_[s.inner].name;
    if (s.waits_for == nullptr)
      return "runs";
    std::string what = s.waits_for;
    for (const auto& d : s.delegates)
      if (d.branch == s.awaited)
        what = "its delegate on " + d.to->name();
    return "waits for " + what + ", for " + milliseconds(s.waited_ms);
  }

  /// Of a branch whose member was not seen.
  static std::string state_of(const given_away& d) {
    const auto where = d.to->name();
    switch (d.state) {
    case progress::sent:
      return "delegate on its way to " + where + ", which has not begun it";
    case progress::begun:
      return "delegate on " + where + ": has begun, and was not seen there";
    case progress::ended:
      return "delegate on " + where + ": has ended, and is to be merged";
    }
    return {};
  }

  std::vector<sighting> seen_;
  std::vector<std::vector<std::size_t>> below_; ///< the members that stole from each
  std::vector<bool> told_;
  std::map<group_key, group> alone_;
  std::string text_;
  int lines_ = 0;
  std::size_t left_out_ = 0;
};

} // namespace detail

std::string dump(std::span<executors::executor_pool* const> pools,
                 std::chrono::milliseconds patience) {
  detail::computation_dump computations;
  return executors::dump(pools, patience, &computations);
}

} // namespace basal::posse
