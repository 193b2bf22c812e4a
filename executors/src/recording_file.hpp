#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <basal/executors/detail/record_kind.hpp>
#include <basal/executors/detail/record_ring.hpp>

namespace basal::executors::recording_file {

// A recording on disk, in the byte order and with the types of the machine that wrote it:
//
//     header, then chunks: { tag, bytes that follow }, and
//       tag::thread   which recording (4 bytes), its thread's id (4), number of its first record
//                     (8), its thread's name (16)
//       tag::records  which recording (4), nothing (4), number of the first record (8), the records
//       tag::name     a name's number (4), its text
//       tag::end      nothing: what has no end was cut off
//
// Chunks may come in any order, except that the last one is the end. Records that are missing
// between two chunks of a recording were overwritten before they could be copied.

inline constexpr std::array<char, 8> magic{'b', 'a', 's', 'a', 'l', 'r', 'e', 'c'};

/// Raise it with each change of the format or of what a kind of record means.
inline constexpr std::uint32_t version = 1;

struct header {
  std::array<char, 8> mark = magic;
  std::uint32_t format = version;
  std::uint32_t kinds = record_kinds;
  std::uint64_t ticks = 0;       ///< tick_clock, at the same time as
  std::uint64_t nanoseconds = 0; ///< CLOCK_BOOTTIME
  double ticks_per_nanosecond = 1;
  std::int32_t process = 0;
  std::uint32_t reserved = 0;
  std::array<char, 16> program{}; ///< its name
};

enum class tag : std::uint32_t { thread = 1, records, name, end };

struct chunk {
  tag what = tag::end;
  std::uint32_t bytes = 0; ///< that follow
};

struct thread_chunk {
  std::uint32_t recording = 0;
  std::int32_t thread = 0;
  std::uint64_t first = 0;
  std::array<char, 16> name{};
};

struct records_chunk {
  std::uint32_t recording = 0;
  std::uint32_t reserved = 0;
  std::uint64_t first = 0;
};

static_assert(sizeof(header) == 64 && sizeof(chunk) == 8 && sizeof(thread_chunk) == 32
              && sizeof(records_chunk) == 16 && sizeof(detail::record) == 16);

/// Writes one. Uses nothing that a signal handler may not call. After the first error it writes
/// nothing any more.
class writer {
public:
  /// For a file that is open for writing.
  explicit writer(int file) noexcept : file_(file) {
  }

  /// errno of the first error, or 0.
  int error() const noexcept {
    return error_;
  }

  /// Records that were asked for, but overwritten before they could be copied.
  std::uint64_t lost() const noexcept {
    return lost_;
  }

  void begin() noexcept;

  /// The thread of recording `index`, and its records that were added at `since` (ticks) or later,
  /// from number `from` on.
  /// @returns the number from which to go on the next time
  std::uint64_t add_records(std::size_t index, std::uint64_t from, std::uint64_t since) noexcept;

  /// Names from number `from` on. After the records: then none is missing.
  /// @returns as above
  std::size_t add_names(std::size_t from) noexcept;

  void end() noexcept;

private:
  void put(const void* bytes, std::size_t count) noexcept;

  template <class Head>
  void put_chunk(tag what, const Head& head, std::span<const std::byte> rest) noexcept;

  int file_;
  int error_ = 0;
  std::uint64_t lost_ = 0;
};

} // namespace basal::executors::recording_file
