#include "actor_report.hpp"

#include "json.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace basal::observer {

namespace {

using actors::actor_stats;
using actors::time_stats;

void subtract(time_stats& from, const time_stats& x) {
  from.count -= x.count;
  from.sum_ns -= x.sum_ns;
  for (std::size_t i = 0; i < from.within.size() && i < x.within.size(); ++i)
    from.within[i] -= x.within[i];
}

std::vector<actor_stats> growth(const std::vector<actor_stats>& before,
                                std::vector<actor_stats> now) {
  for (auto& x : now) {
    const auto was = std::find_if(before.begin(), before.end(), [&](const actor_stats& y) {
      return y.id == x.id && y.name == x.name;
    });
    // An actor that was not among the busiest for a while begins anew.
    if (was == before.end() || was->turns > x.turns || was->handlers.count > x.handlers.count
        || was->delays.count > x.delays.count)
      continue;
    x.turns -= was->turns;
    x.messages -= was->messages;
    x.spawned -= was->spawned;
    x.ended -= was->ended;
    x.busy_ns -= was->busy_ns;
    subtract(x.handlers, was->handlers);
    subtract(x.delays, was->delays);
  }
  return now;
}

std::uint64_t key(const actor_stats& x, actor_order order) noexcept {
  switch (order) {
  case actor_order::busy:
    return x.busy_ns;
  case actor_order::delay:
    return x.delays.count > 0 ? x.delays.sum_ns / x.delays.count : 0;
  case actor_order::messages:
    return x.messages;
  case actor_order::mailbox:
    return x.mailbox;
  }
  return 0;
}

std::vector<actor_stats> first(std::vector<actor_stats> all, actor_order order, std::size_t limit) {
  std::stable_sort(all.begin(), all.end(), [order](const actor_stats& a, const actor_stats& b) {
    return key(a, order) > key(b, order);
  });
  if (all.size() > limit)
    all.resize(limit);
  return all;
}

} // namespace

std::optional<actor_order> parse_actor_order(std::string_view text) noexcept {
  constexpr std::array words{
    std::pair{"busy", actor_order::busy}, std::pair{"delay", actor_order::delay},
    std::pair{"messages", actor_order::messages}, std::pair{"mailbox", actor_order::mailbox}};
  for (const auto& [word, order] : words)
    if (text == word)
      return order;
  return std::nullopt;
}

std::string actor_report(const sample& before, const sample& now, actor_order order,
                         std::size_t limit) {
  const auto of = [&](auto list) {
    return to_json(first(growth(before.stats.*list, now.stats.*list), order, limit));
  };
  const auto passed
    = std::chrono::duration_cast<std::chrono::milliseconds>(now.taken - before.taken);
  return text_of({{"schema", 1},
                  {"window_ms", passed.count()},
                  {"types", of(&actors::system_stats::actor_types)},
                  {"actors", of(&actors::system_stats::busy_actors)}});
}

} // namespace basal::observer
