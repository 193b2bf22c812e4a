#include "printable.hpp"

namespace samples {

namespace {

// Length in bytes of the UTF-8 character at the front of `s` (not empty); 0 if it is none.
std::size_t character_bytes(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = at(0);
  const std::size_t bytes = lead < 0x80                   ? 1
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes > s.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  // Overlong forms, surrogates, and what lies beyond Unicode.
  if ((lead == 0xE0 && at(1) < 0xA0) || (lead == 0xED && at(1) >= 0xA0)
      || (lead == 0xF0 && at(1) < 0x90) || (lead == 0xF4 && at(1) >= 0x90)) {
    return 0;
  }
  return bytes;
}

// U+0080 to U+009F: terminals obey some of them.
bool is_c1_control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xC2'
         && static_cast<unsigned char>(character[1]) < 0xA0;
}

} // namespace

std::string printable(std::string_view text, std::size_t columns) {
  constexpr std::string_view blanks = " \t\r\f\v";
  const auto start = text.find_first_not_of(blanks);
  text = start == text.npos ? std::string_view{} : text.substr(start);
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, bytes == 0 ? 1 : bytes);
    if (column + 1 == columns && character.size() < text.size()) {
      return result + "\u2026";
    }
    if (character == "\t") {
      result += ' ';
    } else if (bytes == 0 || (bytes == 1 && (text[0] < 0x20 || text[0] == 0x7F))
               || is_c1_control(character)) {
      result += "\uFFFD";
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
    ++column;
  }
  return result;
}

} // namespace samples
