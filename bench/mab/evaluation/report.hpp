/// Markdown, and the list of what did not come out as it must on every machine.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace basal::mab::evaluation {

struct options {
  bool quick = false; ///< shorter runs: 10 s rather than a minute
};

class report {
public:
  explicit report(std::ostream& out) : out_(out) {
  }

  void heading(const std::string& text);
  void paragraph(const std::string& text);

  /// The first row is the header. Every row has as many cells.
  void table(const std::vector<std::vector<std::string>>& rows);

  /// What holds on every machine; a failure makes the program fail.
  void expect(bool holds, const std::string& what);

  const std::vector<std::string>& failures() const {
    return failures_;
  }

private:
  std::ostream& out_;
  std::vector<std::string> failures_;
};

/// Three significant digits: "0.444", "12.7", "1390000" as "1,390,000".
std::string number(double x);

/// "12 %", from 0.12.
std::string percent(double share);

/// "+325 %", from 4.25.
std::string speed_up(double ratio);

// One function per part of the evaluation, in the order of the report.
void decision_overhead(report& r, const options& o); // MB1
void wake_latency(report& r, const options& o);      // MB2
void throughput(report& r, const options& o);        // MB3
void convergence(report& r);                         // MB4
void workload_shift(report& r);                      // MB5
void pressure_escalation(report& r);                 // MB6
void thread_ratios(report& r, const options& o);     // MB7
void regret(report& r, const options& o);            // MB8

} // namespace basal::mab::evaluation
