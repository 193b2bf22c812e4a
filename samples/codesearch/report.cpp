#include "report.hpp"

#include <algorithm>
#include <cinttypes>
#include <string>

#include "common/printable.hpp"

#include "progress.hpp"

namespace codesearch {

namespace {

using samples::printable;

constexpr std::size_t path_columns = 4096;

void put(std::FILE* out, const std::string& text) {
  std::fputs(text.c_str(), out);
}

std::string duration_text(std::chrono::duration<double> d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", d.count() * 1e3);
  return text;
}

} // namespace

void print_answer(std::FILE* out, const answer& a, bool terminal) {
  const char* const so_far = a.complete ? "" : " indexed so far";
  put(out, "query \"" + (terminal ? printable(a.asked.text) : a.asked.text)
             + "\": " + (a.matches == 0 ? "none" : grouped(a.matches)) + " of " + grouped(a.files)
             + " files" + so_far + ", " + duration_text(a.seconds) + "\n");
  for (const answer::line& l : a.lines) {
    put(out, (terminal ? printable(l.where.path, path_columns) : l.where.path) + ":"
               + std::to_string(l.where.line) + ": " + l.text + "\n");
  }
  if (a.lines.size() < a.matches) {
    put(out, "... and " + grouped(a.matches - a.lines.size()) + " more (see --top)\n");
  }
}

void print_summary(std::FILE* out, const index_summary& s) {
  const auto number = [out](const char* name, std::uint64_t value) {
    std::fprintf(out, "summary %s %" PRIu64 "\n", name, value);
  };
  const double seconds = std::max(s.seconds.count(), 1e-9);
  number("files", s.files);
  number("folders", s.folders);
  number("bytes", s.totals.bytes);
  number("lines", s.totals.lines);
  number("words", s.words);
  number("tokens", s.totals.tokens);
  number("postings", s.totals.postings);
  number("includes", s.includes);
  number("skipped", s.skips.losses());
  number("symlinks", s.skips.count(skip_reason::symlink));
  std::fprintf(out, "summary seconds %.3f\n", s.seconds.count());
  std::fprintf(out, "summary mb_per_s %.1f\n", static_cast<double>(s.totals.bytes) / 1e6 / seconds);
}

std::string describe_skips(const skip_log& skips) {
  std::string text = "skipped " + grouped(skips.losses()) + ":";
  for (std::size_t r = 0; r < skip_reasons; ++r) {
    const auto reason = static_cast<skip_reason>(r);
    if (!is_loss(reason) || skips.count(reason) == 0) {
      continue;
    }
    text += "\n  " + std::string(to_string(reason)) + ": " + grouped(skips.count(reason));
    std::uint64_t listed = 0;
    for (const skip_log::item& i : skips.items()) {
      if (i.reason == reason) {
        ++listed;
        text += "\n    " + printable(i.path, path_columns)
                + (i.detail.empty() ? "" : " (" + i.detail + ")");
      }
    }
    if (listed < skips.count(reason)) {
      text += "\n    ... and " + grouped(skips.count(reason) - listed) + " more";
    }
  }
  return text;
}

} // namespace codesearch
