/// The measurements of a run: per case all repetitions, and the figures made of them.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace basal::bench {

struct case_result {
  std::string name;                       ///< workload/size/impl/threads
  std::string baseline;                   ///< case that this row is compared with, or empty
  std::vector<double> ns;                 ///< wall time an iteration, one per repetition
  std::map<std::string, double> counters; ///< state.counters, median of the repetitions
  std::string error;                      ///< why the case failed; empty when it did not
};

struct figure_result {
  std::string name;
  double value = 0;
};

/// Thrown by lookups of a case that the filter left out or that failed.
struct not_measured : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Cases in the order in which they were declared. Not thread-safe.
class results {
public:
  std::vector<case_result>& cases() {
    return cases_;
  }
  const std::vector<case_result>& cases() const {
    return cases_;
  }

  /// Throws not_measured when there is no such case or it failed.
  const case_result& at(const std::string& name) const;

  /// Median wall time of an iteration in ns. Throws as at().
  double median_ns(const std::string& name) const;

  /// Median of `state.counters[counter]`. Throws as at(), and when the case has no such counter.
  double counter(const std::string& name, const std::string& counter) const;

  /// cache_line_ns() before each workload; none on one CPU.
  std::vector<double>& cache_lines() {
    return cache_lines_;
  }
  const std::vector<double>& cache_lines() const {
    return cache_lines_;
  }

private:
  std::vector<case_result> cases_;
  std::vector<double> cache_lines_;
};

} // namespace basal::bench
