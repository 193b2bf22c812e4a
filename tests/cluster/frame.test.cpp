#include <basal/cluster/detail/frame.hpp>
#include <basal/cluster/detail/hash.hpp>

#include "support/catch.hpp"

using namespace basal::cluster;
using namespace basal::cluster::detail;

namespace {

errc failure_of(std::string_view frame, frame_kind kind = frame_kind::journal_record) {
  try {
    open_whole_frame(kind, frame);
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

std::string sealed(std::string_view body) {
  std::string result;
  seal(result, frame_kind::journal_record, body);
  return result;
}

} // namespace

TEST_CASE("checksums and hashes are those of their sources") {
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xe3069283); // RFC 3720
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c("56789", crc32c("1234")) == 0xe3069283);
  CHECK(hash_of("").text() == "00000000000000000000000000000000");
  CHECK(hash_of("hello") == content_hash{0xcbd8a7b341bd9b02, 0x5b1e906a48ae1d19});
  CHECK(hash_of("The quick brown fox jumps over the lazy dog")
        == content_hash{0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347});
}

TEST_CASE("a body comes back out of its frame") {
  CHECK(open_whole_frame(frame_kind::journal_record, sealed("body")) == "body");
  CHECK(open_whole_frame(frame_kind::journal_record, sealed("")).empty());
  CHECK(open_frame(frame_kind::journal_record, sealed("body") + "next") == "body");
}

TEST_CASE("every flipped bit and every cut is noticed") {
  const auto frame = sealed("some body");
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    auto flipped = frame;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    CHECK(failure_of(flipped) != errc{});
  }
  for (std::size_t size = 0; size < frame.size(); ++size)
    CHECK(failure_of(std::string_view{frame}.substr(0, size)) == errc::malformed);
  CHECK(failure_of(frame + "x") == errc::malformed);
}

TEST_CASE("kinds, versions and sizes have errors of their own") {
  auto frame = sealed("body");
  CHECK(failure_of(frame, frame_kind::journal_header) == errc::malformed);
  frame[4] = 2;
  CHECK(failure_of(frame) == errc::other_version);
  frame = sealed("body");
  frame[11] = '\x7f'; // 2 GB
  CHECK(failure_of(frame) == errc::too_large);
  frame = sealed("body");
  frame[16] = 'B';
  CHECK(failure_of(frame) == errc::damaged);
  std::string out;
  CHECK_THROWS_AS(seal(out, frame_kind::journal_record, std::string(max_body_bytes + 1, 'x')),
                  error);
}
