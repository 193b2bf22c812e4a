#pragma once

#include "sampler.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace basal::observer {

/// Orders of a report, the most first.
enum class actor_order { busy, delay, messages, mailbox };

/// @returns nothing for another word
std::optional<actor_order> parse_actor_order(std::string_view text) noexcept;

/// Work of types of actors, and of single ones, between two samples, as JSON. Percentiles, mailbox
/// and longest handler are as in `now`.
/// @param limit at most so many of each
std::string actor_report(const sample& before, const sample& now, actor_order order,
                         std::size_t limit);

} // namespace basal::observer
