#include <basal/cluster/codec.hpp>

namespace basal::cluster {

void encoder::put_count(std::size_t count) {
  if (count > std::numeric_limits<std::uint32_t>::max())
    throw error{errc::too_large, "a value with " + std::to_string(count)
                                   + " elements cannot be sent: the most is 4294967295"};
  put_bits(static_cast<std::uint32_t>(count));
}

void decoder::fail(const char* why) const {
  throw error{errc::malformed,
              std::string{why} + " at byte " + std::to_string(rest_.data() - begin_)};
}

std::string_view decoder::take(std::size_t count) {
  if (count > rest_.size())
    fail("the value goes on behind the end of the message");
  const auto result = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return result;
}

bool decoder::get_truth() {
  const auto byte = take(1)[0];
  if (byte != 0 && byte != 1)
    fail("a byte that must be 0 or 1 is neither");
  return byte != 0;
}

std::size_t decoder::get_count(std::size_t least_bytes, std::size_t memory) {
  const std::size_t count = get_bits<std::uint32_t>();
  if (count > rest_.size() / least_bytes)
    fail("more elements are announced than the message has bytes for");
  if (count > memory_left_ / memory)
    throw error{errc::too_large, "the message holds a value that takes more memory than is allowed "
                                 "for one; see decode_limits"};
  memory_left_ -= count * memory;
  return count;
}

std::string_view decoder::get_text() {
  return take(get_count(1, 1));
}

void decoder::expect_end() const {
  if (!rest_.empty())
    fail("the message goes on behind the end of the value");
}

} // namespace basal::cluster
