#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

namespace codesearch {

namespace {

// The postings of one term in one file: those of one word and one part, except for prefixes and
// large files.
struct term_file {
  file_id file;
  std::uint32_t first; // index into term_postings::postings
  std::uint32_t count;
  std::uint64_t lines;
};

struct term_postings {
  std::vector<const posting*> postings; // by file
  std::vector<term_file> files;         // by file
};

void add_chain(const word_entry& e, std::vector<const posting*>& out) {
  // The last posting's `next` is not ours to read: see posting.hpp.
  const posting* p = e.first;
  for (;;) {
    out.push_back(p);
    if (p == e.last) {
      return;
    }
    p = p->next;
  }
}

term_postings look_up(basal::posse::member& m, const catalog& files, const query_term& term) {
  term_postings result;
  for (const segment_ptr& s : files.segments()) {
    m.poll();
    if (!term.prefix) {
      if (const word_entry* e = s->words.find(term.word)) {
        add_chain(*e, result.postings);
      }
      continue;
    }
    s->words.for_each_from(s->words.lower_bound(term.word), [&](const word_entry& e) {
      if (!e.word().starts_with(term.word)) {
        return false;
      }
      add_chain(e, result.postings);
      m.poll();
      return true;
    });
  }
  const auto by_file = [](const posting* a, const posting* b) { return a->file < b->file; };
  if (!std::is_sorted(result.postings.begin(), result.postings.end(), by_file)) {
    std::stable_sort(result.postings.begin(), result.postings.end(), by_file);
  }
  for (std::uint32_t i = 0; i < result.postings.size(); ++i) {
    const posting& p = *result.postings[i];
    if (result.files.empty() || result.files.back().file != p.file) {
      result.files.push_back({p.file, i, 0, 0});
    }
    ++result.files.back().count;
    result.files.back().lines += p.lines;
  }
  return result;
}

std::vector<term_postings> look_up_all(basal::posse::member& m, const catalog& files,
                                       std::span<const query_term> terms) {
  std::vector<term_postings> result;
  if (terms.size() == 1) {
    result.push_back(look_up(m, files, terms[0]));
    return result;
  }
  const std::size_t middle = (terms.size() + 1) / 2;
  auto [left, right] = m.fork_merge(
    [&](basal::posse::member& branch) { return look_up_all(branch, files, terms.first(middle)); },
    [&](basal::posse::member& branch) {
      return look_up_all(branch, files, terms.subspan(middle));
    });
  for (term_postings& t : right) {
    left.push_back(std::move(t));
  }
  return std::move(left);
}

// The first of the lines on which the most terms meet.
std::uint64_t best_line(const std::vector<term_postings>& terms,
                        std::span<const term_file* const> in_file) {
  std::vector<std::uint64_t> all;
  std::vector<std::uint64_t> lines;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    lines.clear();
    for (std::uint32_t i = 0; i < in_file[t]->count; ++i) {
      append_lines(*terms[t].postings[in_file[t]->first + i], lines);
    }
    // Several words of a prefix, or two parts of a file, may share a line.
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    all.insert(all.end(), lines.begin(), lines.end());
  }
  std::sort(all.begin(), all.end());
  std::uint64_t best = 0;
  std::ptrdiff_t most = 0;
  for (auto at = all.begin(); at != all.end();) {
    const auto end = std::upper_bound(at, all.end(), *at);
    if (end - at > most) {
      most = end - at;
      best = *at;
    }
    at = end;
  }
  return best;
}

std::string_view stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.find('.'));
}

bool is_named(const query& q, std::string_view name) {
  return std::any_of(q.terms.begin(), q.terms.end(), [&](const query_term& t) {
    return t.prefix ? name.starts_with(t.word) : name == t.word;
  });
}

// A file that holds all terms, as indexes into the terms' lists of files.
struct match {
  double score;
  file_id file;
  std::uint32_t at; // times the number of terms: index into the list of places
};

} // namespace

found search(basal::posse::member& m, const catalog& files, const file_ranks& ranks, const query& q,
             std::size_t top) {
  found result;
  if (q.terms.empty() || files.size() == 0) {
    return result;
  }
  const std::vector<term_postings> terms = look_up_all(m, files, q.terms);
  std::vector<double> idf;
  std::size_t rarest = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const std::size_t count = terms[t].files.size();
    if (count == 0) {
      return result;
    }
    idf.push_back(std::log1p(static_cast<double>(files.size()) / static_cast<double>(count)));
    if (count < terms[rarest].files.size()) {
      rarest = t;
    }
  }

  std::vector<match> matches;
  std::vector<const term_file*> places; // per match, one a term
  std::vector<const term_file*> here(terms.size());
  std::vector<std::size_t> from(terms.size(), 0);
  for (const term_file& candidate : terms[rarest].files) {
    double score = 0;
    bool in_all = true;
    for (std::size_t t = 0; t < terms.size() && in_all; ++t) {
      const auto& list = terms[t].files;
      const auto at = std::lower_bound(list.begin() + static_cast<std::ptrdiff_t>(from[t]),
                                       list.end(), candidate.file,
                                       [](const term_file& f, file_id id) { return f.file < id; });
      from[t] = static_cast<std::size_t>(at - list.begin());
      in_all = at != list.end() && at->file == candidate.file;
      if (in_all) {
        here[t] = &*at;
        score += idf[t] * (1.0 + std::log(static_cast<double>(at->lines)));
      }
    }
    if (!in_all) {
      continue;
    }
    const double rank = candidate.file < ranks.size() ? ranks[candidate.file] : 1.0;
    score *= 1.0 + std::log1p(rank);
    if (is_named(q, stem(files.path(files.index_of(candidate.file))))) {
      score *= 1.5;
    }
    matches.push_back({score, candidate.file, static_cast<std::uint32_t>(matches.size())});
    places.insert(places.end(), here.begin(), here.end());
  }

  result.matches = matches.size();
  const std::size_t shown = top == 0 ? matches.size() : std::min(top, matches.size());
  std::partial_sort(matches.begin(), matches.begin() + static_cast<std::ptrdiff_t>(shown),
                    matches.end(), [](const match& a, const match& b) {
                      return a.score != b.score ? a.score > b.score : a.file < b.file;
                    });
  result.hits.reserve(shown);
  for (const match& found_here : std::span(matches).first(shown)) {
    m.poll();
    const auto in_file = std::span<const term_file* const>(places).subspan(
      found_here.at * terms.size(), terms.size());
    result.hits.push_back({found_here.file, files.path(files.index_of(found_here.file)),
                           best_line(terms, in_file), found_here.score});
  }
  return result;
}

} // namespace codesearch
