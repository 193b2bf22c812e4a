#include "include_scan.hpp"

#include <algorithm>
#include <utility>

#include "word_bytes.hpp"

namespace codesearch {

namespace {

// Longer names are no file names; Linux allows 4096 bytes in a path.
constexpr std::size_t longest_name_bytes = 1024;

void skip_blanks(std::string_view& s) {
  const auto at = s.find_first_not_of(" \t");
  s.remove_prefix(at == s.npos ? s.size() : at);
}

// Removes `word` from the front of `s` if it stands there as a whole word.
bool take_word(std::string_view& s, std::string_view word) {
  if (!s.starts_with(word) || (s.size() > word.size() && is_word_byte(s[word.size()]))) {
    return false;
  }
  s.remove_prefix(word.size());
  return true;
}

std::string_view first_line(std::string_view s) {
  return s.substr(0, std::min(s.find_first_of("\r\n"), s.size()));
}

// "name", <name> or 'name' at the front of `s`; empty if there is none.
std::string_view delimited(std::string_view s) {
  if (s.empty() || (s[0] != '"' && s[0] != '<' && s[0] != '\'')) {
    return {};
  }
  const char close = s[0] == '<' ? '>' : s[0];
  const auto end = s.find(close, 1);
  return end == s.npos ? std::string_view{} : s.substr(1, end - 1);
}

void add_path(std::string_view name, std::vector<include_name>& out) {
  while (name.starts_with("./") || name.starts_with("../") || name.starts_with("/")) {
    name.remove_prefix(name.find('/') + 1);
  }
  if (!name.empty() && name.size() <= longest_name_bytes && name.back() != '/') {
    out.push_back({std::string(name), false});
  }
}

// True where an import statement may stop or go on after a name; prose goes on with a word.
bool ends_name(std::string_view s) {
  skip_blanks(s);
  return s.empty() || s[0] == ';' || s[0] == ',' || s[0] == '#' || s[0] == ':' || take_word(s, "as")
         || take_word(s, "import");
}

void add_module(std::string_view s, std::vector<include_name>& out) {
  std::size_t size = 0;
  while (size < s.size() && (is_word_byte(s[size]) || s[size] == '.')) {
    ++size;
  }
  if (!ends_name(s.substr(size))) {
    return;
  }
  std::string name(s.substr(0, size));
  std::replace(name.begin(), name.end(), '.', '/');
  name.erase(0, std::min(name.find_first_not_of('/'), name.size()));
  while (name.ends_with('/')) {
    name.pop_back();
  }
  if (!name.empty() && name.size() <= longest_name_bytes) {
    out.push_back({std::move(name), true});
  }
}

void scan_import_line(std::string_view line, std::vector<include_name>& out) {
  if (take_word(line, "export")) {
    skip_blanks(line);
  }
  if (take_word(line, "from")) { // Python: from a.b import c
    skip_blanks(line);
    if (line.find(" import") != line.npos) {
      add_module(line, out);
    }
    return;
  }
  if (!take_word(line, "import")) {
    return;
  }
  skip_blanks(line);
  if (const auto name = delimited(line); !name.empty()) { // C++ header unit, JavaScript
    add_path(name, out);
    return;
  }
  if (const auto from = line.find(" from "); from != line.npos) { // JavaScript
    auto name = line.substr(from + 6);
    skip_blanks(name);
    name = delimited(name);
    const bool has_extension = name.find('.', name.rfind('/') + 1) != name.npos;
    const auto before = out.size();
    add_path(name, out);
    if (out.size() > before) {
      out.back().module = !has_extension;
    }
    return;
  }
  take_word(line, "static"); // Java
  for (;;) {
    skip_blanks(line);
    add_module(line, out);
    const auto comma = line.find(','); // Python: import a, b
    if (comma == line.npos) {
      return;
    }
    line.remove_prefix(comma + 1);
  }
}

} // namespace

void scan_directive(std::string_view line, std::vector<include_name>& out) {
  skip_blanks(line);
  if (take_word(line, "include") || take_word(line, "include_next") || take_word(line, "import")) {
    skip_blanks(line);
    add_path(delimited(first_line(line)), out);
  }
}

void scan_imports(std::string_view text, std::vector<include_name>& out) {
  std::size_t from = 0;
  for (;;) {
    const std::size_t at = text.find("import", from);
    if (at == text.npos) {
      return;
    }
    const std::size_t before = at == 0 ? text.npos : text.rfind('\n', at - 1);
    const std::size_t start = before == text.npos ? 0 : before + 1;
    const auto line = first_line(text.substr(start));
    scan_import_line(line, out);
    from = std::max(start + line.size(), at + 6);
  }
}

} // namespace codesearch
