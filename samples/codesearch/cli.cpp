#include "cli.hpp"

#include <basal/executors/config.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <utility>

#include "common/between.hpp"
#include "common/observe.hpp"
#include "common/program.hpp"

#include "walker.hpp"

namespace codesearch {

namespace {

constexpr const char* description
  = "Indexes the words of source trees and answers queries, also while it is indexing.\n"
    "\n"
    "A query is a list of words that must all be in a file; get* stands for any word that\n"
    "starts with get. Letter case counts. Without --query, on a terminal, there is a prompt\n"
    "that answers at once from what is indexed so far; elsewhere only the summary is printed.";

constexpr const char* footer
  = "Symbolic links below PATH are not followed. Binary files, unreadable files and whatever is\n"
    "not a regular file are skipped, counted and listed at the end.\n"
    "\n"
    "Exit status: 0; 1 if the indexing failed, or results could not be written, or with\n"
    "--strict if anything was skipped; 2 for wrong usage; 130 after Ctrl-C.";

int usage_error(const std::string& message) {
  samples::complain("codesearch", message);
  return exit_usage;
}

} // namespace

command_line parse_command_line(int argc, char** argv) {
  command_line result;
  options& o = result.value;
  o.executors = basal::executors::usable_cpus();
  o.compute = basal::executors::usable_cpus();
  std::vector<std::string> paths;
  std::vector<std::string> queries;

  using samples::between;
  constexpr std::size_t most_executors = basal::executors::pool_config::max_executors;
  CLI::App app(description, "codesearch");
  app.footer(footer);
  app.add_option("PATH", paths, "Folders or files to index")->required();
  app
    .add_option("-q,--query", queries,
                "Words to look for when everything is indexed; can be repeated. With '-', one query"
                " a line from standard input; typed on a terminal, each is answered at once, from"
                " what is indexed by then")
    ->allow_extra_args(false);
  app.add_option("-n,--top", o.top, "Files to show for a query, the best first; 0 shows all")
    ->capture_default_str()
    ->check(between(0, std::int64_t{1} << 32)); // there are no more files
  std::string stats;
  app.add_flag(
    "--stats{summary}", stats,
    "Print at the end what executors and pure functions did; --stats=full: every counter");
  app.add_flag("--strict", o.strict, "Exit with status 1 if anything was skipped");
  app
    .add_option("--executors", o.executors,
                "Message executors: threads that run actors. Default: one for each usable CPU")
    ->type_name("N")
    ->check(between(1, most_executors));
  app
    .add_option("--compute", o.compute,
                "Compute executors: threads that index. Default: one for each usable CPU")
    ->type_name("N")
    ->check(between(1, most_executors));
  if constexpr (samples::can_observe) {
    app.add_flag(std::string("--observe{") + samples::usual_address + "}", o.observe,
                 samples::observe_help);
  }

  const auto exit_with = [&](int status) {
    result.exits = true;
    result.status = status;
    return result;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) { // --help
    return exit_with(app.exit(e));
  } catch (const CLI::ParseError& e) {
    return exit_with(usage_error(std::string(e.what()) + "; see codesearch --help"));
  }

  if (stats == "full") {
    o.stats = stats_detail::full;
  } else if (stats == "summary") {
    o.stats = stats_detail::summary;
  } else if (!stats.empty()) {
    return exit_with(usage_error("--stats=" + stats + ": there are --stats and --stats=full"));
  }
  for (const std::string& text : queries) {
    if (text == "-") {
      o.queries_from_stdin = true;
      continue;
    }
    parsed_query parsed = parse_query(text);
    if (!parsed) {
      return exit_with(usage_error(parsed.error));
    }
    o.queries.push_back(std::move(parsed.value));
  }
  std::vector<bad_root> bad;
  o.roots = distinct_roots(paths, bad);
  for (const bad_root& b : bad) {
    usage_error("cannot index " + b.path + ": " + b.message);
  }
  if (!bad.empty()) {
    return exit_with(exit_usage);
  }
  return result;
}

} // namespace codesearch
