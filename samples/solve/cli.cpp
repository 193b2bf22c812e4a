#include "cli.hpp"

#include <basal/executors/config.hpp>
#include <basal/solver/errors.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>

#include "common/between.hpp"
#ifdef SAMPLES_OBSERVE
#  include "common/observe.hpp"
#endif
#include "common/program.hpp"

namespace solve {

namespace {

constexpr const char* description
  = "Solves A x = b for a sparse matrix A from a Matrix Market file.\n"
    "\n"
    "Without B.mtx, right-hand sides are made up as b = A x of random x between -1 and 1, the\n"
    "same ones in each run. With more than one the matrix is read once for several of them\n"
    "where the method allows it.";

constexpr const char* footer
  = "Exit status: 0 if all converged; 1 if not; 2 for wrong usage or input, or if results could\n"
    "not be written.";

// A line is printed for each, at the end.
constexpr std::int64_t most_rhs = 1'000'000;

/// Names of the methods that compute all of x.
std::string method_names() {
  std::string names;
  for (auto m : basal::solver::all_methods())
    if (!computes_one_entry(m))
      names += (names.empty() ? "" : ", ") + std::string{to_string(m)};
  return names;
}

int usage_error(const std::string& message) {
  samples::complain("solve", message);
  return exit_usage;
}

} // namespace

command_line parse_command_line(int argc, char** argv) {
  command_line result;
  options& o = result.value;
  o.executors = basal::executors::usable_cpus();
  std::string method{basal::solver::to_string(o.solver.method)};

  CLI::App app{description, "solve"};
  app.footer(footer);
  app.add_option("A.mtx", o.matrix_file, "The matrix");
  auto* file = app.add_option("B.mtx", o.rhs_file, "The right-hand side, one column");
  app.add_option("--rhs", o.rhs, "How many right-hand sides to make up")
    ->type_name("N")
    ->capture_default_str()
    ->check(samples::between(1, most_rhs))
    ->excludes(file);
  app.add_option("--method", method, method_names())->type_name("M")->capture_default_str();
  app.add_option("--tol", o.solver.tolerance, "Converged when |b - A x| <= TOL |b|")
    ->type_name("TOL")
    ->capture_default_str();
  app.add_option("--limit", o.solver.iteration_limit, "Iterations after which a solve gives up")
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--batch", o.batch, "Right-hand sides to solve at once")
    ->type_name("N")
    ->capture_default_str()
    ->check(samples::between(1, most_rhs));
  app
    .add_option("--executors", o.executors, "Threads that solve. Default: one for each usable CPU")
    ->type_name("N")
    ->check(samples::between(1, basal::executors::pool_config::max_executors));
  app
    .add_option("--output", o.output_file,
                "Write x as a Matrix Market array, a column for each right-hand side; of a solve\n"
                "that did not converge, the best that it came across")
    ->type_name("FILE");
  app
    .add_option("--plot", o.plot_file,
                "Draw the residual of the first right-hand side by iteration, as SVG")
    ->type_name("FILE");
#ifdef SAMPLES_OBSERVE
  [[maybe_unused]] auto* observe = app.add_flag(
    std::string("--observe{") + samples::usual_address + "}", o.observe, samples::observe_help);
#endif

#ifdef SOLVE_WITH_CLUSTER
  auto* address
    = app
        .add_option("--cluster", o.cluster,
                    "Let the workers at this address solve, which fetch the matrix once each")
        ->type_name("nats://HOST:PORT");
  app.add_flag("--serve", o.serves, "Be such a worker, until SIGTERM")->needs(address);
  app.add_option("--journal", o.journal, "Keeps solutions: the same command goes on with them")
    ->type_name("FILE")
    ->needs(address);
  app
    .add_option(
      "--replicas", o.replicas,
      "Servers that keep a copy of everything, if they have no streams yet; usually 3 of a\n"
      "cluster, and 1 where there is no cluster")
    ->check(samples::between(1, 5))
    ->needs(address);
  const auto add_file = [&](const char* name, std::string& value, const char* what) {
    app.add_option(name, value, what)->type_name("FILE")->needs(address);
  };
  add_file("--ca", o.ca_file, "Authorities that sign the server's certificate");
  add_file("--certificate", o.certificate_file, "Our certificate");
  add_file("--key", o.key_file, "Its key");
#  ifdef SAMPLES_OBSERVE
  observe->excludes(address); // what others do is not seen here
#  endif
#endif

  auto exit_with = [&](int status) {
    result.exits = true;
    result.status = status;
    return result;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) { // --help
    return exit_with(app.exit(e));
  } catch (const CLI::ParseError& e) {
    return exit_with(usage_error(std::string{e.what()} + "; see solve --help"));
  }
  if (o.matrix_file.empty() && !o.serves)
    return exit_with(usage_error("A.mtx is required; see solve --help"));
  auto known = basal::solver::method_from(method);
  if (!known || computes_one_entry(*known))
    return exit_with(
      usage_error("--method " + method + " is not possible; there are " + method_names()));
  o.solver.method = *known;
  try {
    validate(o.solver);
  } catch (const basal::solver::error& e) {
    return exit_with(usage_error(e.what()));
  }
  return result;
}

} // namespace solve
