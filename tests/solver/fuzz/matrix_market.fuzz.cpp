// Reads its input as a matrix and as a vector, and uses what was read: whatever bytes come, the
// reader either throws a typed error or gives a matrix that can be packed, multiplied and solved.
//
// libFuzzer drives it where BASAL_BUILD_FUZZERS is on (clang); support/replay.cpp feeds it the
// corpus in every build.

#include <basal/solver/detail/kernels/product.hpp>
#include <basal/solver/errors.hpp>
#include <basal/solver/matrix_market.hpp>
#include <basal/solver/solve.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>

using namespace basal::solver;

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

template <class T>
void use(const csr_matrix<T>& a) {
  std::vector<T> x(static_cast<std::size_t>(a.columns()), T{1});
  std::vector<T> y(static_cast<std::size_t>(a.rows()));
  kernels::multiply<T>(a, x, y, summation::native);
  const auto t = a.transposed();
  require(t.nonzeros() == a.nonzeros());
  if (!a.is_square() || a.rows() == 0 || a.rows() > 64)
    return;
  const auto shared = std::make_shared<const csr_matrix<T>>(t.transposed());
  try {
    const auto r = solve<T>(linear_operator<T>{shared}, x, {.iteration_limit = 50});
    require(r.state != state::running);
    require(std::isfinite(r.residual));
    for (const T value : r.x)
      require(std::isfinite(value));
  } catch (const error&) {
  }
}

template <class T>
void read(const std::string& text) {
  // Small enough that a header cannot make the fuzzer run out of memory or time.
  const matrix_market_options options{
    .file_name = "fuzz", .limits = {.max_rows = 5000, .max_entries = 20'000}, .progress = {}};
  try {
    std::istringstream in{text};
    use(read_matrix_market<T>(in, options));
  } catch (const error& e) {
    require(e.what()[0] != '\0');
  }
  try {
    use(parse_matrix_market<T>(text, options));
  } catch (const error& e) {
    require(e.what()[0] != '\0');
  }
  try {
    std::istringstream in{text};
    for (const T value : read_matrix_market_vector<T>(in, options))
      require(std::isfinite(value));
  } catch (const error& e) {
    require(e.what()[0] != '\0');
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  read<double>(text);
  read<float>(text);
  return 0;
}
