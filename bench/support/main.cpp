#include "bench/support/bench.hpp"
#include "bench/support/report.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>

namespace {

using namespace basal;

// bench_posse -> posse
std::string module_of(std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1); // npos + 1 is 0
  if (program.starts_with("bench_"))
    program.remove_prefix(6);
  return std::string{program};
}

void write_json(const std::string& path, const bench::report& r) {
  std::ofstream file{path};
  file << bench::to_json(r);
  file.close();
  if (!file)
    throw std::runtime_error("cannot write " + path);
}

int run(const char* program, const bench::options& how) {
  bench::plan plan{how.quick};
  bench::suite::declare_all(plan);
  if (how.list) {
    for (const auto& c : plan.cases())
      std::cout << c.name << '\n';
    for (const auto& f : plan.figures())
      std::cout << "figure " << f.name << '\n';
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  bench::report r{module_of(program), bench::this_machine(), how, {}, {}, 0};
  r.cases = bench::run_cases(plan, how);
  r.figures = bench::compute_figures(plan, r.cases, how);
  if (r.cases.cases().empty() && r.figures.values.empty() && r.figures.failures.empty())
    throw bench::usage_error("nothing matches '" + how.filter + "'; see --list");
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bench::print_table(std::cout, r);
  std::cout.flush();
  if (!how.json.empty())
    write_json(how.json, r);
  return bench::succeeded(r) ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  try {
    const auto how = bench::parse_options({argv + 1, static_cast<std::size_t>(argc - 1)});
    if (how.help) {
      std::fputs(bench::usage_text, stdout);
      return 0;
    }
    return run(argv[0], how);
  } catch (const bench::usage_error& e) {
    std::fprintf(stderr, "%s: %s\n%s", argv[0], e.what(), bench::usage_text);
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}
