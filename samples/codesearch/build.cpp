#include "build.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include "piece_index.hpp"

namespace codesearch {

namespace {

// About ten milliseconds of scanning. Halves are worth stealing from some quanta on, but each part
// of a file has postings of its own for all its words, and small parts would take much memory for
// files of gigabytes. Retune with bench codesearch.
constexpr std::size_t uncut_bytes = std::size_t{1} << 21;

// Cost of a file beside its text, in bytes: a table, a sort and some allocations. Without it, many
// empty files would make an unbalanced tree.
constexpr std::size_t bytes_per_file = 512;

std::size_t cost(const text_piece& piece) {
  return piece.text.size() + bytes_per_file;
}

void check(const stop_flag& stop) {
  if (stop.load(std::memory_order_relaxed)) { // acts on nothing but the flag itself
    throw stopped{};
  }
}

// Position of a cut near the middle of `text`: behind a newline, else behind a separator; 0 if the
// first half is one run of word bytes.
std::size_t middle_cut(std::string_view text) {
  const std::size_t half = text.size() / 2;
  if (const auto newline = text.rfind('\n', half); newline != text.npos) {
    return newline + 1;
  }
  std::size_t cut = half;
  while (cut > 0 && is_word_byte(text[cut - 1])) {
    --cut;
  }
  return cut;
}

} // namespace

segment build_piece(basal::posse::member& m, const text_piece& piece, const stop_flag& stop) {
  check(stop);
  const std::size_t cut = piece.text.size() > uncut_bytes ? middle_cut(piece.text) : 0;
  if (cut == 0) {
    return index_piece(m, piece);
  }
  text_piece left = piece;
  text_piece right = piece;
  left.text = piece.text.substr(0, cut);
  right.text = piece.text.substr(cut);
  right.offset += cut;
  right.first_line
    += static_cast<std::uint64_t>(std::count(left.text.begin(), left.text.end(), '\n'));
  right.mid_word = false;
  auto [a, b]
    = m.fork_merge([&](basal::posse::member& branch) { return build_piece(branch, left, stop); },
                   [&](basal::posse::member& branch) { return build_piece(branch, right, stop); });
  return merge_segments(m, std::move(a), std::move(b));
}

segment build_pieces(basal::posse::member& m, std::span<const text_piece> pieces,
                     const stop_flag& stop) {
  if (pieces.empty()) {
    return {};
  }
  if (pieces.size() == 1) {
    return build_piece(m, pieces.front(), stop);
  }
  std::size_t all = 0;
  for (const text_piece& p : pieces) {
    all += cost(p);
  }
  // At least one piece on either side; else the left one gets what first makes up half.
  std::size_t cut = 1;
  for (std::size_t left = cost(pieces.front()); cut + 1 < pieces.size() && left < all / 2; ++cut) {
    left += cost(pieces[cut]);
  }
  auto [a, b] = m.fork_merge(
    [&](basal::posse::member& branch) { return build_pieces(branch, pieces.first(cut), stop); },
    [&](basal::posse::member& branch) { return build_pieces(branch, pieces.subspan(cut), stop); });
  return merge_segments(m, std::move(a), std::move(b));
}

segment merge_all(basal::posse::member& m, std::span<const std::shared_ptr<const segment>> segments,
                  const stop_flag& stop) {
  check(stop);
  if (segments.empty()) {
    return {};
  }
  if (segments.size() <= 2) {
    static const segment nothing;
    return merge_segments(m, *segments.front(), segments.size() == 2 ? *segments.back() : nothing);
  }
  const std::size_t cut = (segments.size() + 1) / 2;
  auto [a, b] = m.fork_merge(
    [&](basal::posse::member& branch) { return merge_all(branch, segments.first(cut), stop); },
    [&](basal::posse::member& branch) { return merge_all(branch, segments.subspan(cut), stop); });
  return merge_segments(m, std::move(a), std::move(b));
}

} // namespace codesearch
