// Reads its input as a value of a type with everything that the codec knows, and as a frame:
// whatever bytes come, there is a typed error or a value whose bytes are the input again.
//
// libFuzzer drives it where BASAL_BUILD_FUZZERS is on (clang); support/replay.cpp feeds it the
// corpus in every build.

#include <basal/cluster/codec.hpp>
#include <basal/cluster/detail/frame.hpp>

#include <cstdint>
#include <cstdlib>

using namespace basal::cluster;

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

enum class colour : std::uint8_t { red, green };

struct point {
  double x = 0;
  float y = 0;
  bool marked = false;
};

template <class Fields>
auto inspect(Fields& f, point& p) {
  return f(p.x, p.y, p.marked);
}

struct everything {
  std::string name;
  std::vector<point> points;
  std::vector<std::vector<std::string>> words;
  std::optional<std::pair<colour, std::int16_t>> maybe;
  std::vector<double> numbers;
  std::vector<bool> truths;
  std::array<std::uint32_t, 2> two = {};
};

template <class Fields>
auto inspect(Fields& f, everything& e) {
  return f(e.name, e.points, e.words, e.maybe, e.numbers, e.truths, e.two);
}

template <class T>
void read(std::string_view bytes) {
  try {
    require(encode(decode<T>(bytes, {.memory = std::size_t{1} << 20})) == bytes);
  } catch (const error& e) {
    require(e.code() == errc::malformed || e.code() == errc::too_large);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  read<everything>(bytes);
  read<std::vector<std::optional<point>>>(bytes);
  try {
    const auto body = detail::open_whole_frame(detail::frame_kind::journal_record, bytes);
    std::string again;
    detail::seal(again, detail::frame_kind::journal_record, body);
    require(again == bytes);
    read<everything>(body);
  } catch (const error& e) {
    require(e.what()[0] != '\0');
  }
  return 0;
}
