#pragma once

#include <basal/posse/member.hpp>

#include "segment.hpp"
#include "text_batch.hpp"

namespace codesearch {

/// The map of one piece of text, scanned in one go: every word with the lines it stands in. Looks
/// up (`poll`) every 64 KiB. Throws std::bad_alloc.
[[nodiscard]] segment index_piece(basal::posse::member& m, const text_piece& piece);

} // namespace codesearch
