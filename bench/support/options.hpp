/// The command line of every bench_MODULE.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

namespace basal::bench {

struct options {
  bool quick = false;
  bool list = false;
  bool help = false;
  std::string filter;      ///< regular expression searched in case and figure names
  std::string json;        ///< file to write, or empty
  int repetitions = 9;     ///< of each case
  double min_time_s = 0.2; ///< of each repetition: iterations are added until it is reached
};

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr const char* usage_text
  = "usage: bench_MODULE [--quick] [--filter REGEX] [--json FILE] [--repetitions N]\n"
    "                    [--min-time SECONDS] [--list] [--help]\n"
    "  --quick        smaller sizes, 5 short repetitions: a minute or so in all\n"
    "  --filter       only cases (and measured figures) whose names match\n"
    "  --json         write machine, compiler, flags, all repetitions and figures there, too\n"
    "  --repetitions  default 9, with --quick 5\n"
    "  --min-time     of one repetition, default 0.2, with --quick 0.05\n"
    "exit status: 0, 1 when a case or figure failed, 2 on a wrong command line\n";

/// `arguments` without the program's name. Throws usage_error.
options parse_options(std::span<const char* const> arguments);

} // namespace basal::bench
