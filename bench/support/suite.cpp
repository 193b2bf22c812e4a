#include "bench/support/suite.hpp"

#include <algorithm>
#include <stdexcept>

namespace basal::bench {

namespace {

// Namespace-scope suites may be constructed before any variable of this file.
std::vector<void (*)(plan&)>& suites() {
  static std::vector<void (*)(plan&)> all;
  return all;
}

bool is_case_name(std::string_view name) {
  int parts = 1;
  std::size_t length = 0;
  bool number = true;
  for (const char c : name) {
    if (c == '/') {
      if (length == 0)
        return false;
      ++parts;
      length = 0;
      number = true;
    } else {
      ++length;
      number = number && c >= '0' && c <= '9';
    }
  }
  return parts == 4 && length > 0 && number;
}

} // namespace

from_results ratio(std::string numerator, std::string denominator) {
  return [n = std::move(numerator), d = std::move(denominator)](const results& r) {
    return r.median_ns(n) / r.median_ns(d);
  };
}

from_results ns_per_item(std::string name, double items) {
  return [n = std::move(name), items](const results& r) { return r.median_ns(n) / items; };
}

void plan::add(std::string name, std::function<void(benchmark::State&)> run, case_options options) {
  if (!is_case_name(name))
    throw std::logic_error("case '" + name + "': the name must be workload/size/impl/threads");
  if (std::any_of(cases_.begin(), cases_.end(), [&](auto& c) { return c.name == name; }))
    throw std::logic_error("case '" + name + "' is declared twice");
  cases_.push_back({std::move(name), std::move(run), std::move(options)});
}

void plan::figure(std::string name, from_results compute) {
  add_figure({std::move(name), std::move(compute), false});
}

void plan::measure(std::string name, std::function<double()> measure) {
  add_figure({std::move(name), [m = std::move(measure)](const results&) { return m(); }, true});
}

void plan::add_figure(figure_entry entry) {
  if (entry.name.empty() || entry.name.find_first_of(" \t\n") != std::string::npos)
    throw std::logic_error("figure '" + entry.name + "': the name must be one word");
  if (std::any_of(figures_.begin(), figures_.end(), [&](auto& f) { return f.name == entry.name; }))
    throw std::logic_error("figure '" + entry.name + "' is declared twice");
  figures_.push_back(std::move(entry));
}

suite::suite(void (*declare)(plan&)) {
  suites().push_back(declare);
}

void suite::declare_all(plan& into) {
  for (auto* declare : suites())
    declare(into);
}

} // namespace basal::bench
