#include "pure_functions.hpp"

#include "include_graph.hpp"
#include "page_rank.hpp"

#include <memory>

namespace codesearch {

segment_ptr index_batch(basal::posse::member& m, const text_batch& batch, const stop_flag& stop) {
  return std::make_shared<const segment>(build_pieces(m, batch.pieces, stop));
}

segment_ptr merge_to_one(basal::posse::member& m, const std::vector<segment_ptr>& segments,
                         const stop_flag& stop) {
  return std::make_shared<const segment>(merge_all(m, segments, stop));
}

ranking rank_files(basal::posse::member& m, const std::vector<segment_ptr>& segments,
                   const stop_flag& stop) {
  const catalog files(segments);
  const include_graph graph = resolve_includes(m, files, stop);
  const page_rank_result result = page_rank(graph);
  ranking out;
  out.files = files.size();
  out.includes = graph.edges();
  // Files by the number that postings have; those that are in no segment keep the average.
  for (std::size_t i = 0; i < files.size(); ++i) {
    const file_id id = files.parts(i).front()->file;
    out.ranks.resize(id + std::size_t{1}, 1.0);
    out.ranks[id] = result.rank[i] * static_cast<double>(files.size());
  }
  return out;
}

} // namespace codesearch
