#pragma once

#include <basal/posse/member.hpp>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "segment.hpp"
#include "text_batch.hpp"

namespace codesearch {

/// Raised by other threads when the whole program is to stop; looked at between files.
using stop_flag = std::atomic<bool>;

/// Thrown by the functions below when they find the flag raised.
struct stopped : std::exception {
  [[nodiscard]] const char* what() const noexcept override {
    return "indexing was stopped";
  }
};

/// The index of one piece of text: scanned, its words sorted, its postings written. Pieces above
/// two megabytes are cut at line ends and their halves forked. Pure, except for `stop`. Throws
/// `stopped` and std::bad_alloc.
[[nodiscard]] segment build_piece(basal::posse::member& m, const text_piece& piece,
                                  const stop_flag& stop);

/// The index of several pieces, by halves of about equal work. Throws as above.
[[nodiscard]] segment build_pieces(basal::posse::member& m, std::span<const text_piece> pieces,
                                   const stop_flag& stop);

/// One index for several, by halves in the order given. Throws as above.
[[nodiscard]] segment merge_all(basal::posse::member& m,
                                std::span<const std::shared_ptr<const segment>> segments,
                                const stop_flag& stop);

} // namespace codesearch
