#pragma once

#include "process.hpp"

#include <basal/actors/stats.hpp>

#include <string>

namespace basal::observer {

/// Values of one label, beyond which the rest are added up under "other".
inline constexpr std::size_t most_label_values = 200;

/// Executors of one pool, beyond which none has a metric of its own.
inline constexpr std::size_t most_executors_shown = 64;

/// The statistics in Prometheus' text format 0.0.4. Names follow OpenMetrics: base units, `_total`
/// for what only grows, one quantity a metric.
std::string metrics_text(const actors::system_stats& stats, const process_facts& process);

} // namespace basal::observer
