#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace basal::observer {

/// Counters, gauges and histograms in Prometheus' text format 0.0.4, as prometheus::TextSerializer
/// writes them, to whose words a test holds it. That one writes each number and each label to a
/// std::ostream, and takes four times as long.
std::string prometheus_text(const std::vector<prometheus::MetricFamily>& families);

} // namespace basal::observer
