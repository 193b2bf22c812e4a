/// Markdown, and the rows that are judged.
#pragma once

#include "bench/support/verdict.hpp"

#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace basal::evaluation {

struct options {
  bool quick = false; ///< shorter runs: half a minute rather than two
};

class report {
public:
  explicit report(std::ostream& out) : out_(out) {
  }

  /// Runs `part`. If one of its rows misses it is run again, up to three times, since another
  /// program may have disturbed it; what a former time wrote is dropped.
  template <class Part>
  void run(Part part) {
    constexpr int most_times = 3;
    const auto first = rows_.size();
    for (int times = 1;; ++times) {
      part(*this);
      const auto its_rows = std::span{rows_}.subspan(first);
      if (bench::exit_status(its_rows) == 0 || times == most_times)
        break;
      rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(first), rows_.end());
      text_.clear();
    }
    out_ << std::exchange(text_, {});
    out_.flush();
  }

  void heading(const std::string& text);
  void paragraph(const std::string& text);

  /// The first row is the header. Every row has as many cells.
  void table(const std::vector<std::vector<std::string>>& rows);

  /// A row beside the source's.
  void judge(bench::table_row row) {
    rows_.push_back(std::move(row));
  }

  const std::vector<bench::table_row>& rows() const {
    return rows_;
  }

private:
  std::ostream& out_;
  std::string text_;
  std::vector<bench::table_row> rows_;
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
void queue_costs(report& r, const options& o);       // PB1
void quantile_accuracy(report& r);                   // PB2
void shortest_first(report& r);                      // PB3
void hybrid_paths(report& r, const options& o);      // PB4
void priority_journal(report& r);                    // PB5
void distances(report& r, const options& o);         // SB1, SB2
void single_solves(report& r, const options& o);     // SB3
void batches(report& r, const options& o);           // SB4, SB5
void ticks(report& r, const options& o);             // SB6

} // namespace basal::evaluation
