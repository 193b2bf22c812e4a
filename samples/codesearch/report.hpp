#pragma once

#include <cstdio>
#include <string>

#include "events.hpp"

namespace codesearch {

/// Prints one answer: a line about the query, then `path:line: text` for each file, as grep does.
/// On a terminal, query and paths are made printable. Lines whose text cannot be shown say why
/// instead.
void print_answer(std::FILE* out, const answer& a, bool terminal);

/// Prints the summary, one `summary NAME VALUE` a line: files, folders, bytes, lines, words
/// (distinct), tokens (words with repetitions), postings (word and line), includes (edges of the
/// include graph), skipped, symlinks, seconds, mb_per_s.
void print_summary(std::FILE* out, const index_summary& s);

/// Why how many files were skipped, and the first of them, on several lines. Some were.
std::string describe_skips(const skip_log& skips);

} // namespace codesearch
