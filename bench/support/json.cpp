#include "bench/support/report.hpp"
#include "bench/support/statistics.hpp"

#include <nlohmann/json.hpp>

namespace basal::bench {

namespace {

nlohmann::ordered_json case_to_json(const case_result& c) {
  nlohmann::ordered_json made{{"name", c.name}};
  if (!c.baseline.empty())
    made["baseline"] = c.baseline;
  if (!c.error.empty()) {
    made["error"] = c.error;
    return made;
  }
  const auto around = spread_of(c.ns);
  made["median_ns"] = median(c.ns);
  made["min_ns"] = median(c.ns) * (1 + around.low);
  made["max_ns"] = median(c.ns) * (1 + around.high);
  made["repetitions_ns"] = c.ns;
  if (!c.counters.empty())
    made["counters"] = c.counters;
  return made;
}

} // namespace

std::string to_json(const report& r) {
  nlohmann::ordered_json made{
    {"module", r.module},
    {"date", r.where.date},
    {"machine",
     {{"cpu", r.where.cpu},
      {"usable_cpus", r.where.usable_cpus},
      {"kernel", r.where.kernel},
      {"load_before", r.where.load},
      {"cache_line_ns", r.cases.cache_lines()}}},
    {"compiler", r.where.compiler},
    {"flags", r.where.flags},
    {"asserts", r.where.asserts},
    {"quick", r.how.quick},
    {"filter", r.how.filter},
    {"repetitions", r.how.repetitions},
    {"min_time_s", r.how.min_time_s},
    {"seconds", r.seconds},
    {"succeeded", succeeded(r)},
  };
  made["cases"] = nlohmann::ordered_json::array();
  for (const auto& c : r.cases.cases())
    made["cases"].push_back(case_to_json(c));
  made["figures"] = nlohmann::ordered_json::object();
  for (const auto& f : r.figures.values)
    made["figures"][f.name] = f.value;
  made["figure_failures"] = r.figures.failures;
  return made.dump(2) + '\n';
}

} // namespace basal::bench
