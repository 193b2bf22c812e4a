#include "lexer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tiered {

namespace {

// Not <cctype>: bytes above 127 are never part of a name, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr std::array<std::string_view, 5> keywords{"let", "fn", "if", "then", "else"};
constexpr std::array<std::string_view, 8> pairs{"<=", ">=", "==", "!=", "&&", "||", "<<", ">>"};
constexpr std::string_view singles = "()+-*/%<>=!&|^,:;";

class lexer {
public:
  explicit lexer(std::string_view source) : source_(source) {
  }

  std::vector<token> all() {
    std::vector<token> tokens;
    for (;;) {
      skip_blanks();
      start_ = next_;
      where_ = here();
      if (next_ == source_.size()) {
        tokens.push_back(made(token::kind::end));
        return tokens;
      }
      tokens.push_back(one());
    }
  }

private:
  char peek(std::size_t ahead = 0) const {
    return next_ + ahead < source_.size() ? source_[next_ + ahead] : '\0';
  }

  position here() const {
    return {line_, static_cast<std::uint32_t>(next_ - line_start_ + 1)};
  }

  token made(token::kind is) const {
    return {is, source_.substr(start_, next_ - start_), where_};
  }

  void skip_blanks() {
    for (; next_ < source_.size(); ++next_) {
      const char c = source_[next_];
      if (c == '#') {
        next_ = std::min(source_.find('\n', next_), source_.size());
        if (next_ == source_.size())
          return;
      }
      if (source_[next_] == '\n') {
        ++line_;
        line_start_ = next_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  token one() {
    const char c = peek();
    if (is_letter(c)) {
      while (is_letter(peek()) || is_digit(peek()))
        ++next_;
      const token t = made(token::kind::name);
      return std::find(keywords.begin(), keywords.end(), t.text) == keywords.end()
               ? t
               : made(token::kind::keyword);
    }
    if (is_digit(c))
      return number();
    if (std::find(pairs.begin(), pairs.end(), source_.substr(next_, 2)) != pairs.end()) {
      next_ += 2;
      return made(token::kind::symbol);
    }
    if (singles.find(c) != singles.npos) {
      ++next_;
      return made(token::kind::symbol);
    }
    char name[8];
    const bool printable = c > ' ' && c <= '~';
    std::snprintf(name, sizeof name, printable ? "'%c'" : "\\x%02x", static_cast<unsigned char>(c));
    throw source_error(where_, "unexpected character " + std::string(name));
  }

  token number() {
    bool real = false;
    digits();
    if (peek() == '.') {
      real = true;
      ++next_;
      if (!is_digit(peek()))
        throw source_error(here(), "digits must follow the point of a number, as in 1.0");
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      real = true;
      ++next_;
      if (peek() == '+' || peek() == '-')
        ++next_;
      if (!is_digit(peek()))
        throw source_error(here(), "digits must follow the exponent's 'e', as in 1e9");
      digits();
    }
    if (is_letter(peek()))
      throw source_error(here(), "a number ends where a name begins; put a space or an operator "
                                 "between them");
    return made(real ? token::kind::real : token::kind::integer);
  }

  void digits() {
    while (is_digit(peek()))
      ++next_;
  }

  std::string_view source_;
  std::size_t next_ = 0;
  std::size_t start_ = 0; // of the token
  position where_;        // of the token
  std::uint32_t line_ = 1;
  std::size_t line_start_ = 0;
};

} // namespace

std::vector<token> tokenise(std::string_view source) {
  return lexer(source).all();
}

std::string shown(const token& t) {
  return t.is == token::kind::end ? "the end of the text" : "'" + std::string(t.text) + "'";
}

} // namespace tiered
