#pragma once

#include <basal/posse/member.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "catalog.hpp"
#include "query.hpp"

namespace codesearch {

/// Ranks of files by number, relative to the average file, which has 1. Files behind the end, as
/// those indexed after the ranks were computed, count as average.
using file_ranks = std::vector<double>;

/// One file that a query found.
struct hit {
  file_id file = 0;
  std::string path;
  std::uint64_t line = 0; ///< of the lines with the most terms, the first
  double score = 0;
};

struct found {
  std::vector<hit> hits;   ///< the best first
  std::size_t matches = 0; ///< files that hold all terms, shown or not
};

/// The files of `files` that hold every term of `q`, the `top` best ones (0: all of them).
///
/// The score of a file is the sum over the terms of idf * (1 + ln(lines with the term)), times
/// 1 + ln(1 + rank), and half as much again if the file's name without extension is one of the
/// words. idf is ln(1 + files / files with the term). Of equal scores the file that the walk
/// found first comes first. Looks at the terms in parallel; pure.
[[nodiscard]] found search(basal::posse::member& m, const catalog& files, const file_ranks& ranks,
                           const query& q, std::size_t top);

} // namespace codesearch
