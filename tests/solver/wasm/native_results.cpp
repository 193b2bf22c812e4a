// Systems of the families that the other tests use, and what the native solver makes of them:
// native_results FOLDER writes systems.json and systems.bin there, for bits.test.js.
//
// systems.bin is arrays one after the other, each from a multiple of 8 bytes on; systems.json says
// where. Matrices are written out because random distributions differ between standard libraries.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <basal/solver/pagerank.hpp>
#include <basal/solver/solve.hpp>
#include <basal/solver/top_k.hpp>

#include "../families.hpp"
#include "../hard_families.hpp"

using namespace basal::solver;

namespace {

class recorder {
public:
  explicit recorder(const std::string& folder)
    : index_(folder + "/systems.json"), data_(folder + "/systems.bin", std::ios::binary) {
    index_ << "[";
  }

  void solve(const std::string& family, csr_matrix<double> matrix, unsigned seed,
             solve_options options) {
    const auto a = std::make_shared<const csr_matrix<double>>(std::move(matrix));
    const auto b = families::numbers<double>(families::at(a->rows()), seed);
    options.order = summation::portable;
    const auto result = basal::solver::solve<double>(linear_operator<double>{a}, b, options);
    if (result.why.find("direct") != std::string::npos)
      return; // the other build has no direct method
    begin("solve", family, *a, b);
    index_ << ",\"options\":{\"method\":\"" << to_string(options.method)
           << "\",\"preconditioner\":\"" << to_string(options.preconditioner)
           << "\",\"tolerance\":" << options.tolerance << ",\"seed\":" << options.seed
           << ",\"iterationLimit\":" << options.iteration_limit;
    if (options.entry)
      index_ << ",\"entry\":" << *options.entry;
    index_ << "}";
    end(result);
  }

  void pagerank(unsigned seed) {
    const auto links = families::web_links<double>(200, seed);
    auto restarts = families::numbers<double>(200, seed);
    for (auto& r : restarts)
      r = r < 0 ? 0 : r;
    pagerank_options options;
    options.solving.order = summation::portable;
    const auto result = personalised_pagerank<double>(links, restarts, options);
    begin("pagerank", "web_links", links, restarts);
    index_ << ",\"options\":{\"tolerance\":" << options.solving.tolerance << "}";
    end(result);
  }

  void top_k(unsigned seed) {
    auto a = std::make_shared<const csr_matrix<double>>(
      pagerank_matrix(families::web_links<double>(500, seed), 0.15));
    const std::vector<std::pair<index_type, double>> b{{static_cast<index_type>(seed), 0.15}};
    const auto found = top_k_ranker<double>{a}.rank(b);
    solve_result<double> result; // index and value of each entry
    for (const auto& entry : found.entries) {
      result.x.push_back(entry.index);
      result.x.push_back(entry.value);
    }
    result.iterations = found.pushes;
    begin("topK", "web_links", *a, {});
    index_ << ",\"place\":" << seed;
    end(result);
  }

  void finish() {
    index_ << "]\n";
    index_.close();
    data_.close();
    if (!index_ || !data_)
      throw std::runtime_error{"the files cannot be written"};
  }

  int count() const {
    return count_;
  }

private:
  template <class T>
  void array(const char* name, std::span<const T> numbers) {
    index_ << ",\"" << name << "\":[" << data_.tellp() << "," << numbers.size() << "]";
    data_.write(reinterpret_cast<const char*>(numbers.data()),
                static_cast<std::streamsize>(numbers.size_bytes()));
    while (data_.tellp() % 8 != 0)
      data_.put('\0');
  }

  void begin(const char* kind, const std::string& family, const csr_matrix<double>& a,
             const std::vector<double>& b) {
    index_ << (count_++ == 0 ? "\n" : ",\n") << "{\"kind\":\"" << kind << "\",\"family\":\""
           << family << "\",\"rows\":" << a.rows() << ",\"columns\":" << a.columns();
    array<index_type>("rowStarts", a.row_starts());
    array<index_type>("columnIndices", a.column_indices());
    array<double>("values", a.values());
    array<double>("b", b);
  }

  void end(const solve_result<double>& result) {
    array<double>("x", result.x);
    const double numbers[] = {result.residual, result.half_width};
    array<double>("numbers", numbers);
    index_ << ",\"state\":\"" << to_string(result.state)
           << "\",\"iterations\":" << result.iterations << ",\"method\":\""
           << to_string(result.chosen) << "\",\"why\":\"" << result.why << "\"}";
  }

  std::ofstream index_;
  std::ofstream data_;
  int count_ = 0;
};

void record(recorder& to) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto side = static_cast<index_type>(5 + 3 * seed);
    const auto n = static_cast<index_type>(70 + 41 * seed);
    to.solve("poisson_2d", families::poisson_2d<double>(side), seed, {});
    to.solve("poisson_2d", families::poisson_2d<double>(side), seed,
             {.method = method::conjugate_gradient, .preconditioner = preconditioning::incomplete});
    to.solve("poisson_3d", families::poisson_3d<double>(static_cast<index_type>(3 + seed)), seed,
             {.tolerance = 1e-10});
    to.solve("convection", families::convection<double>(side, 0.5), seed, {});
    to.solve("convection", families::convection<double>(side, 5), seed,
             {.method = method::bicgstab, .preconditioner = preconditioning::jacobi});
    to.solve("laplacian", families::laplacian<double>(n, seed, 1e-3), seed, {.tolerance = 1e-9});
    to.solve("laplacian", families::laplacian<double>(n, seed, 1), seed,
             {.method = method::neumann, .iteration_limit = 200});
    to.solve("dominant", families::dominant<double>(n, seed, 0.3, true), seed, {});
    to.solve("dominant", families::dominant<double>(n, seed, 0.95, false), seed, {});
    to.solve("dominant", families::dominant<double>(n, seed, 0.9, false, 90), seed,
             {.method = method::gmres});
    to.solve("dominant", families::dominant<double>(n, seed, 0.7, false).transposed(), seed,
             {.method = method::forward_push, .tolerance = 1e-3});
    to.solve("dominant", families::dominant<double>(n, seed, 0.8, false), seed,
             {.method = method::backward_push, .entry = 7});
    to.solve("dominant", families::dominant<double>(n, seed, 0.8, false), seed,
             {.method = method::random_walk, .tolerance = 0.05, .entry = 3, .seed = seed});
    to.solve("pagerank", pagerank_matrix(families::web_links<double>(n, seed), 0.15), seed, {});
    to.solve("skew", families::skew(2 * n, seed), seed, {.method = method::gmres});
    to.solve("permuted", families::permuted_without_diagonal(n, seed), seed,
             {.method = method::gmres, .preconditioner = preconditioning::threshold});
    to.solve("permuted", families::permuted_without_diagonal(1001 + n, seed), seed, {});
    to.solve("nearly_singular", families::nearly_singular(n, seed), seed,
             {.method = method::gmres, .preconditioner = preconditioning::nearly_complete});
    to.pagerank(seed);
    to.top_k(seed);
    to.solve("wide", families::dominant<double>(3000, seed, 0.97, seed % 2 == 0), seed, {});
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  try {
    recorder to{argv[1]};
    record(to);
    to.finish();
    std::printf("%d systems\n", to.count());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
