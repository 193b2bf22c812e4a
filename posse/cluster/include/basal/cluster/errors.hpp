/// Failures of a batch, a worker, a journal or a message.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace basal::cluster {

/// Why a batch, a worker or a message failed.
enum class errc : std::uint8_t {
  malformed = 1,   ///< bytes that are no value of the type, or a message that is none of ours
  other_version,   ///< a message or a file of another version of the format
  damaged,         ///< a checksum or a hash says that bytes have changed
  too_large,       ///< a value or a message larger than what the receiver takes
  not_a_journal,   ///< the file exists and was not written by a journal
  other_batch,     ///< the journal belongs to another function or to other items
  journal_in_use,  ///< another process writes this journal
  journal_failed,  ///< the file system refused to read or write: no space, say
  bad_option,      ///< an option outside its range, or an address that is none
  no_server,       ///< nobody answers at the address, or not as the engine: JetStream is off
  refused,         ///< one side does not accept the other's certificate or name, or there is none
  engine_failed,   ///< the server does not do what it is asked
  too_few_servers, ///< fewer run than copies were asked for, or than elect a leader
  no_worker,       ///< no worker has the function, or those that have it are in quarantine
  poisoned,        ///< an item has no result: every try of it failed
  cancelled,       ///< a stop was requested
};

/// "malformed" etc.
std::string_view to_string(errc code) noexcept;

/// Thrown with a sentence that names the cause and, where there is one, the remedy.
class error : public std::runtime_error {
public:
  /// @param code why
  /// @param what the sentence, which what() returns
  error(errc code, const std::string& what) : std::runtime_error(what), code_(code) {
  }

  /// For programs; the sentence is for people.
  errc code() const noexcept {
    return code_;
  }

private:
  errc code_;
};

} // namespace basal::cluster
