#pragma once

#include <string>
#include <string_view>

namespace solve {

/// A file that appears whole or not at all: written beside its place under a name of its own, and
/// renamed by commit(). Where something that is no regular file has the name, as /dev/stdout, that
/// is written to directly. One thread.
class output_file {
public:
  /// Opens it at once, so that a place that cannot be written to is told before there is work.
  /// @param what in errors: "the plot"
  /// @throws std::runtime_error naming `what`, the path and the system's reason
  output_file(std::string what, const std::string& path);

  /// Without a commit() before, what was written is gone.
  ~output_file();

  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  /// @throws as the constructor, for a full disk for example
  void write(std::string_view text);

  /// Writes what is buffered and puts the file in its place. Once. @throws as write()
  void commit();

private:
  [[noreturn]] void fail(int reason) const;
  void flush();

  const std::string what_;
  std::string path_;
  std::string temporary_; ///< empty: `path_` is written to directly
  std::string buffer_;
  int descriptor_ = -1;
};

} // namespace solve
