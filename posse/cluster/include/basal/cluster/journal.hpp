/// The finished results of a batch, on disk: an append-only file of checksummed records.
///
/// The first record says to which batch the file belongs. Records are kept in memory until sync()
/// writes them with one write() and one fdatasync(): what was appended before it survives the
/// process and, if the disk keeps its word, the machine. A process that is killed leaves a torn
/// record at the end at most; opening cuts it off. A group may reach the disk out of order, so
/// everything from the first damaged record on is cut, and those items are solved again. The header
/// is synced before the first record, so a file that ends within its header is begun anew. After a
/// failed fdatasync() the kernel may have dropped what it could not write, so a journal that failed
/// once stays failed.
///
/// One process writes at a time (flock). Not safe to use from two threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <basal/cluster/detail/hash.hpp>
#include <basal/cluster/errors.hpp>

namespace basal::cluster {

/// Identity of a journal's batch: equal for a batch that is started again.
struct journal_identity {
  std::string function;         ///< its registered name
  std::uint32_t version = 0;    ///< its registered version
  std::uint64_t signature = 0;  ///< of its item and result types
  std::uint64_t items = 0;      ///< how many
  detail::content_hash content; ///< of all items

  /// Whether a journal of the one can go on as one of the other.
  bool operator==(const journal_identity&) const = default;
};

/// For the codec.
template <class Fields>
auto inspect(Fields& f, journal_identity& x) {
  return f(x.function, x.version, x.signature, x.items, x.content);
}

/// An open journal; see above.
class journal {
public:
  /// Told of each record that the file has; what it throws ends the opening.
  using replay = std::function<void(std::string_view record)>;

  /// Opens the file, or creates it, and calls `each` with every record that it holds, in order.
  /// @throws error not_a_journal, other_batch, other_version, damaged, journal_in_use,
  ///         journal_failed; the file is as it was then
  journal(std::filesystem::path path, const journal_identity& identity, const replay& each);

  /// Writes what was appended, unless that failed before.
  ~journal();

  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  /// Adds a record, which sync() writes.
  /// @throws error too_large
  void append(std::string_view record);

  /// Returns when everything that was appended is on the disk.
  /// @throws error journal_failed, this time and from now on; what was synced before is kept
  void sync();

  /// Records that wait for sync().
  std::size_t unsynced() const noexcept {
    return unsynced_;
  }

  /// A number that the file got when it was created, at random: results of another run of the same
  /// batch do not carry it.
  std::uint64_t run() const noexcept {
    return run_;
  }

  /// Bytes at the end that opening cut off.
  std::size_t repaired_bytes() const noexcept {
    return repaired_bytes_;
  }

  /// As given to the constructor.
  const std::filesystem::path& path() const noexcept {
    return path_;
  }

private:
  class descriptor {
  public:
    explicit descriptor(int number) noexcept : number_(number) {
    }
    ~descriptor();
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;

    int number() const noexcept {
      return number_;
    }

  private:
    int number_;
  };

  [[noreturn]] void fail(const char* what, int error_number) const;
  void begin(const journal_identity& identity);
  std::uint64_t read_header(const journal_identity& identity, std::uint64_t size);
  void read_records(std::uint64_t from, std::uint64_t size, const replay& each);
  bool read_frame(std::uint64_t from, std::uint64_t size, std::string& frame) const;
  void read_at(std::uint64_t from, char* to, std::size_t count) const;
  void write_out();

  const std::filesystem::path path_;
  const descriptor file_;
  std::string waiting_;
  std::size_t unsynced_ = 0;
  std::uint64_t written_ = 0; ///< bytes of the file that are whole records
  std::uint64_t run_ = 0;
  std::size_t repaired_bytes_ = 0;
  bool failed_ = false;
};

} // namespace basal::cluster
