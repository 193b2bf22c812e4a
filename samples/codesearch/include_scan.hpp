#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace codesearch {

/// A file that another file asks for, as written there.
struct include_name {
  std::string name;    ///< with slashes: "sys/types.h", or "os/path" for `import os.path`
  bool module = false; ///< the name of a module: the file's extension is not part of it

  friend bool operator==(const include_name&, const include_name&) = default;
};

/// Appends the name behind a preprocessor directive, if it is one of #include, #include_next and
/// #import with a quoted or bracketed name. `line` starts behind the '#'.
void scan_directive(std::string_view line, std::vector<include_name>& out);

/// Appends the names in the import statements of `text`, each at the start of a line: `import
/// <x.h>;`, `import a.b.c;`, `import a, b`, `from a.b import c`, `import x from './y'`. For texts
/// that hold the word `import`; one pass over the text.
void scan_imports(std::string_view text, std::vector<include_name>& out);

} // namespace codesearch
