#include <basal/cluster/codec.hpp>

#include "support/catch.hpp"

#include <bit>
#include <cmath>

using namespace basal::cluster;

namespace {

enum class colour : std::uint16_t { red = 1, green = 2 };

struct point {
  double x = 0;
  std::int32_t y = 0;

  bool operator==(const point&) const = default;
};

template <class Fields>
auto inspect(Fields& f, point& p) {
  return f(p.x, p.y);
}

struct shape {
  std::string name;
  std::vector<point> points;
  std::optional<colour> fill;

  bool operator==(const shape&) const = default;
};

template <class Fields>
auto inspect(Fields& f, shape& s) {
  return f(s.name, s.points, s.fill);
}

struct other_point { // other names, the same layout
  double a = 0;
  std::int32_t b = 0;
};

template <class Fields>
auto inspect(Fields& f, other_point& p) {
  return f(p.a, p.b);
}

template <class T>
void comes_back(const T& x) {
  CHECK(decode<T>(encode(x)) == x);
}

template <class T>
errc failure_of(std::string_view bytes, decode_limits limits = {}) {
  try {
    decode<T>(bytes, limits);
  } catch (const error& e) {
    CHECK(std::string{e.what()}.size() > 20);
    return e.code();
  }
  return errc{};
}

template <class T>
concept can_be_sent = encodable<T>;

} // namespace

TEST_CASE("values come back as they were") {
  comes_back(true);
  comes_back('x');
  comes_back(std::int8_t{-1});
  comes_back(std::numeric_limits<std::int64_t>::min());
  comes_back(std::numeric_limits<std::uint64_t>::max());
  comes_back(1.5F);
  comes_back(colour::green);
  comes_back(std::string{"a\0b", 3});
  comes_back(std::vector<bool>{true, false, true});
  comes_back(std::vector<std::string>{"", "two"});
  comes_back(std::vector<std::vector<int>>{{}, {1, 2}});
  comes_back(std::pair{1, std::string{"x"}});
  comes_back(std::tuple{});
  comes_back(std::array<float, 3>{1, 2, 3});
  comes_back(std::optional<int>{});
  comes_back(shape{"triangle", {{0, 1}, {2, 3}, {-4, 5}}, colour::red});
}

TEST_CASE("a float is its bits") {
  for (const auto bits : {0x7ff0000000000000ULL, 0x7ff8dead0000beefULL, 0xfff0000000000001ULL,
                          0x8000000000000000ULL, 0x0000000000000001ULL}) {
    const std::vector<double> list{std::bit_cast<double>(bits)};
    CHECK(std::bit_cast<std::uint64_t>(decode<std::vector<double>>(encode(list))[0]) == bits);
    CHECK(std::bit_cast<std::uint64_t>(decode<double>(encode(list[0]))) == bits);
  }
}

TEST_CASE("the bytes are the same on every machine") {
  const auto bytes = encode(shape{"ab", {{1.0, -2}}, colour::green});
  CHECK(bytes == std::string("\2\0\0\0ab\1\0\0\0\0\0\0\0\0\0\xf0\x3f\xfe\xff\xff\xff\1\2\0", 25));
}

TEST_CASE("a signature tells layouts apart, not names") {
  STATIC_REQUIRE(signature<point>() == signature<other_point>());
  STATIC_REQUIRE(signature<colour>() == signature<std::uint16_t>());
  STATIC_REQUIRE(signature<point>() != signature<std::vector<point>>());
  STATIC_REQUIRE(signature<int>() != signature<unsigned>());
  STATIC_REQUIRE(signature<std::uint32_t>() != signature<float>());
  STATIC_REQUIRE(signature<std::tuple<int, std::tuple<int>>>()
                 != signature<std::tuple<int, int>>());
}

TEST_CASE("what is too short, too long or impossible is refused") {
  const auto bytes = encode(shape{"triangle", {{0, 1}, {2, 3}}, colour::red});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK(failure_of<shape>(std::string_view{bytes}.substr(0, size)) == errc::malformed);
  CHECK(failure_of<shape>(bytes + "x") == errc::malformed);
  CHECK(failure_of<bool>("\2") == errc::malformed);
  CHECK(failure_of<std::optional<int>>("\2") == errc::malformed);
}

TEST_CASE("no memory is taken for what a message only announces") {
  const std::string four_billion = "\xff\xff\xff\xff";
  CHECK(failure_of<std::vector<double>>(four_billion) == errc::malformed);
  CHECK(failure_of<std::string>(four_billion) == errc::malformed);
  // Small in a message and large in memory.
  using fat = std::vector<std::optional<std::array<double, 1000>>>;
  const auto bytes = encode(fat(1000));
  CHECK(bytes.size() == 1004);
  CHECK(failure_of<fat>(bytes, {.memory = 1 << 20}) == errc::too_large);
  CHECK(failure_of<fat>(bytes) == errc{});
}

TEST_CASE("the memory of all lists of a value counts together") {
  const auto bytes = encode(std::vector<std::string>{std::string(600, 'x'), std::string(600, 'y')});
  CHECK(failure_of<std::vector<std::string>>(bytes, {.memory = 1000}) == errc::too_large);
  CHECK(failure_of<std::vector<std::string>>(bytes, {.memory = 2000}) == errc{});
}
