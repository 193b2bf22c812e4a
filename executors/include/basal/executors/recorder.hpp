#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <basal/executors/detail/record_kind.hpp>

namespace basal::executors {

/// The flight recorder. It is on unless somebody switches it off, and keeps the latest records of
/// each thread in memory: what executors ran, where they looked for work, slept, were woken; what
/// was suspended, stolen, sent from one pool to another (record_kind). Pools share `pool_bytes`
/// among their executors; pages are touched when they are written. Events that are too frequent are
/// not recorded: forks, merges without a theft, and most messages of a turn.
///
/// Recordings are files in a format of their own, which the program basal-trace turns into one for
/// https://ui.perfetto.dev. Members may be called from any thread.
///
/// The environment, read when the first pool is made: BASAL_RECORDER=false switches it off (what is
/// neither true nor false is reported, and it stays on); BASAL_RECORDING=FILE is
/// write_when_fatal(FILE); BASAL_TRACE=FILE is stream(FILE).
class recorder {
public:
  /// Of the executors of one pool together, at least.
  static constexpr std::size_t pool_bytes = 10 * 1024 * 1024;

  /// Of one executor at least, and of a thread that is none.
  static constexpr std::size_t thread_bytes = 256 * 1024;

  /// Whether pools, and threads that record for the first time, record from now on. Pools that
  /// exist go on as they are.
  static void use(bool on) noexcept;

  /// Writes what was recorded in the last `age` to a file, mode 0600. Stops nobody: what is
  /// overwritten while it is being copied is left out.
  /// @throws std::system_error with a sentence; the file is what could be written of it
  static void write(const std::string& path,
                    std::chrono::nanoseconds age = std::chrono::nanoseconds::max());

  /// Has each signal of that number write all that there is to the file; problems are told on
  /// stderr. Replaces the signal's handler.
  /// @throws std::invalid_argument for a path that is too long
  /// @throws std::system_error for a signal that cannot be handled
  static void write_on_signal(int signal, const std::string& path);

  /// The same when the program is about to end by SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT;
  /// who handled these before does so afterwards.
  static void write_when_fatal(const std::string& path);

  /// The file that write_when_fatal() was told; empty if it was not called. Others that the program
  /// wants to have when something goes wrong may go beside it.
  static std::string path_when_fatal();

  /// From now on, all records go to the file, too, every 20 ms by a thread of its own, and until
  /// stop_stream() or the program's end. Records that come too quickly for it are lost, and the
  /// file says how many. When the file cannot be written any more, says so on stderr, and stops.
  /// @throws std::system_error when the file cannot be made
  /// @throws std::logic_error when there is a stream already
  static void stream(const std::string& path);

  /// Writes what is left. Nothing when there is no stream.
  static void stop_stream() noexcept;

  /// How many records all streams of this process have lost so far.
  static std::uint64_t lost() noexcept;

  /// Adds a record for the calling thread, at the present time.
  /// @param name copied; null: none
  static void add(record_kind kind, const void* subject = nullptr,
                  const char* name = nullptr) noexcept;
};

} // namespace basal::executors
