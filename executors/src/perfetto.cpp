// Perfetto's TrackEvent format, written by hand: some twenty fields of its protocol buffers.
// https://perfetto.dev/docs/reference/synthetic-track-event

#include <basal/executors/trace.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "recording_reader.hpp"

namespace basal::executors {

namespace {

using recording_file::timeline;

/// A message of protocol buffers.
class message {
public:
  message& number(unsigned field, std::uint64_t value) {
    put(field << 3);
    put(value);
    return *this;
  }

  message& fixed(unsigned field, std::uint64_t value) {
    put(field << 3 | 1);
    for (int i = 0; i < 8; ++i)
      bytes_ += static_cast<char>(value >> 8 * i);
    return *this;
  }

  message& text(unsigned field, std::string_view value) {
    put(field << 3 | 2);
    put(value.size());
    bytes_ += value;
    return *this;
  }

  message& part(unsigned field, const message& value) {
    return text(field, value.bytes_);
  }

  std::string& bytes() {
    return bytes_;
  }

private:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Numbers of fields, by message. All of one block belong to the message that it is named after.
namespace trace {
constexpr unsigned packet = 1;
}
namespace packet {
constexpr unsigned timestamp = 8, sequence = 10, track_event = 11, interned_data = 12,
                   sequence_flags = 13, track_descriptor = 60;
constexpr std::uint64_t state_cleared = 1, needs_state = 2; // of sequence_flags
} // namespace packet
namespace descriptor {
constexpr unsigned uuid = 1, name = 2, process = 3, parent = 5, counter = 8;
constexpr unsigned process_id = 1, process_name = 6; // of process
} // namespace descriptor
namespace event {
constexpr unsigned annotation = 4, type = 9, name_number = 10, track = 11, counter_value = 30,
                   flow = 47;
constexpr unsigned annotation_value = 3, annotation_name = 10;                    // of annotation
constexpr std::uint64_t slice_begin = 1, slice_end = 2, instant = 3, counter = 4; // of type
} // namespace event
namespace interned {
constexpr unsigned event_name = 2;
constexpr unsigned number = 1, text = 2; // of event_name
} // namespace interned

constexpr std::uint64_t process_track = 1;
constexpr std::uint64_t tracks_per_thread = 3; // its slices, and two counters

/// Names of slices and events, by kind of record, where nothing has a better name.
constexpr std::array<std::string_view, record_kinds> titles{
  "work",
  "quantum ends",
  "overrun",
  "waits",
  "work",
  "looks for work",
  "takes items",
  "looks for a wake-up",
  "sleeps",
  "looks for work",
  "queue",
  "theft",
  "delegate",
  "delegate ends",
  "merges",
  "hop",
  "work of a hop",
  "hop ends",
  "hop returns",
  "collection",
  "collection ends",
};

/// Which flow goes through a record: by the indices of thread and entry.
using flows = std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>;

/// A theft and a hop begin one flow each, and the records of the same subject that come later
/// belong to it, until it is back. Objects have addresses of earlier ones, so the order of time
/// decides.
flows find_flows(const std::vector<timeline>& threads) {
  struct step {
    std::uint64_t time;
    record_kind kind;
    std::uint64_t subject;
    std::pair<std::size_t, std::size_t> place;
  };
  std::vector<step> steps;
  for (std::size_t t = 0; t < threads.size(); ++t)
    for (std::size_t i = 0; i < threads[t].entries.size(); ++i) {
      const auto& e = threads[t].entries[i];
      if (e.kind >= record_kind::theft && e.kind <= record_kind::hop_returns)
        steps.push_back({e.time, e.kind, e.subject, {t, i}});
    }
  // Of two at the same time, the earlier kind is the cause.
  std::stable_sort(steps.begin(), steps.end(), [](const step& a, const step& b) {
    return std::pair{a.time, a.kind} < std::pair{b.time, b.kind};
  });
  flows result;
  std::map<std::uint64_t, std::uint64_t> thefts;
  std::map<std::uint64_t, std::uint64_t> hops;
  std::uint64_t number = 0;
  for (const auto& s : steps) {
    const bool is_hop = s.kind >= record_kind::hop_sent;
    auto& open = is_hop ? hops : thefts;
    if (s.kind == record_kind::theft || s.kind == record_kind::hop_sent)
      open[s.subject] = ++number;
    const auto found = open.find(s.subject);
    if (found == open.end() || s.kind == record_kind::delegate_ends
        || s.kind == record_kind::hop_ends)
      continue;
    result[s.place] = found->second;
    if (s.kind == record_kind::merges || s.kind == record_kind::hop_returns)
      open.erase(found);
  }
  return result;
}

/// Writes the packets of one thread.
class track {
public:
  track(perfetto_trace& to, const recording_file::contents& from, std::size_t index,
        const flows& arrows)
    : to_(to), from_(from), index_(index), arrows_(arrows) {
  }

  void write(std::uint64_t end) {
    const auto& thread = from_.threads[index_];
    // Perfetto drops packets that need this sequence's names until one says that there are none.
    put(message{}.number(packet::sequence_flags, packet::state_cleared));
    describe(uuid(), thread.thread + " (" + std::to_string(thread.thread_id) + ")", false);
    describe(uuid() + 1, thread.thread + " ring", true);
    describe(uuid() + 2, thread.thread + " shared queues", true);
    auto next = thread.entries.empty() ? 0 : thread.entries.front().number;
    for (std::size_t i = 0; i < thread.entries.size(); ++i) {
      const auto& e = thread.entries[i];
      if (e.number != next) {
        close_all(e.time);
        mark_gap(e.time, e.number - next);
        to_.lost += e.number - next;
      }
      next = e.number + 1;
      add(e, i);
      ++to_.records;
    }
    close_all(end);
  }

private:
  std::uint64_t uuid() const {
    return process_track + 1 + tracks_per_thread * index_;
  }

  void put(message packet) {
    packet.number(packet::sequence, index_ + 1);
    to_.bytes += message{}.part(trace::packet, packet).bytes();
  }

  void describe(std::uint64_t id, std::string_view name, bool is_counter) {
    message d;
    d.number(descriptor::uuid, id)
      .text(descriptor::name, name)
      .number(descriptor::parent, process_track);
    if (is_counter)
      d.part(descriptor::counter, {});
    put(message{}.part(packet::track_descriptor, d));
  }

  /// An event with its name, which is written out once for each track.
  void put_event(std::uint64_t time, message e, std::string_view name) {
    message p;
    p.number(packet::timestamp, time);
    if (!name.empty()) {
      const auto [known, is_new] = names_.try_emplace(std::string{name}, names_.size() + 1);
      e.number(event::name_number, known->second);
      if (is_new) {
        message entry;
        entry.number(interned::number, known->second).text(interned::text, name);
        p.part(packet::interned_data, message{}.part(interned::event_name, entry));
      }
    }
    p.part(packet::track_event, e).number(packet::sequence_flags, packet::needs_state);
    put(std::move(p));
  }

  message started(std::uint64_t type, std::size_t i) const {
    message e;
    e.number(event::type, type).number(event::track, uuid());
    if (const auto found = arrows_.find({index_, i}); found != arrows_.end())
      e.fixed(event::flow, found->second);
    return e;
  }

  void open(const timeline::entry& e, std::size_t i, std::string_view name) {
    put_event(e.time, started(event::slice_begin, i), name);
    open_.push_back(e.kind);
  }

  /// Not a step of the flow that the record after the gap belongs to.
  void mark_gap(std::uint64_t time, std::uint64_t lost) {
    message m;
    m.number(event::type, event::instant).number(event::track, uuid());
    put_event(time, std::move(m), std::to_string(lost) + " records lost");
  }

  void instant(const timeline::entry& e, std::size_t i, std::string_view name) {
    put_event(e.time, started(event::instant, i), name);
  }

  /// One that says a number, too.
  void instant(const timeline::entry& e, std::size_t i, std::string_view name,
               std::string_view what, std::uint64_t value) {
    auto m = started(event::instant, i);
    m.part(event::annotation,
           message{}.text(event::annotation_name, what).number(event::annotation_value, value));
    put_event(e.time, std::move(m), name);
  }

  void count(const timeline::entry& e, std::uint64_t which, std::uint64_t value) {
    message m;
    m.number(event::type, event::counter).number(event::track, uuid() + which);
    put_event(e.time, m.number(event::counter_value, value), {});
  }

  void close_one(std::uint64_t time) {
    message m;
    put_event(time, m.number(event::type, event::slice_end).number(event::track, uuid()), {});
    open_.pop_back();
  }

  void close_all(std::uint64_t time) {
    while (!open_.empty())
      close_one(time);
  }

  /// The end of what `begins` began, or of what it went on as when it had waited.
  void close_if(std::uint64_t time, record_kind begins) {
    if (!open_.empty() && (open_.back() == begins || open_.back() == record_kind::resumes))
      close_one(time);
  }

  std::string title(const timeline::entry& e) const {
    auto name = from_.name(e.name);
    return name.empty() ? std::string{titles[static_cast<std::size_t>(e.kind)]} : name;
  }

  /// The request that work began with, as far as it is known.
  std::string asked_of(const timeline::entry& e) const {
    const auto name = from_.name(static_cast<std::uint16_t>(e.subject));
    return name.empty() ? name : " <- " + name;
  }

  void add(const timeline::entry& e, std::size_t i) {
    switch (e.kind) {
    case record_kind::begins:
      close_all(e.time);
      open(e, i, title(e) + asked_of(e));
      break;
    case record_kind::resumes:
    case record_kind::searches:
    case record_kind::parks:
    case record_kind::sleeps:
    case record_kind::wakes:
      close_all(e.time);
      open(e, i, title(e));
      break;
    case record_kind::suspends:
      close_all(e.time);
      break;
    case record_kind::delegate_begins:
    case record_kind::hop_begins:
    case record_kind::collection_begins:
      open(e, i, title(e));
      break;
    case record_kind::delegate_ends:
      close_if(e.time, record_kind::delegate_begins);
      break;
    case record_kind::hop_ends:
      close_if(e.time, record_kind::hop_begins);
      break;
    case record_kind::collection_ends:
      if (!open_.empty() && open_.back() == record_kind::collection_begins)
        close_one(e.time);
      break;
    case record_kind::overrun:
      instant(e, i, "overrun of " + title(e), "us",
              static_cast<std::uint64_t>(static_cast<double>(e.subject)
                                         / from_.about.ticks_per_nanosecond / 1000));
      break;
    case record_kind::steals:
      instant(e, i, title(e), "items", e.subject);
      break;
    case record_kind::theft:
      instant(e, i, "theft from " + title(e));
      break;
    case record_kind::quantum_end:
    case record_kind::merges:
    case record_kind::hop_sent:
    case record_kind::hop_returns:
      instant(e, i, title(e));
      break;
    case record_kind::queue_length:
      count(e, 1, e.subject & ((1 << 24) - 1));
      count(e, 2, e.subject >> 24);
      break;
    }
  }

  perfetto_trace& to_;
  const recording_file::contents& from_;
  const std::size_t index_;
  const flows& arrows_;
  std::map<std::string, std::uint64_t> names_;
  std::vector<record_kind> open_; ///< slices, outermost first
};

void describe_process(perfetto_trace& to, const recording_file::header& about) {
  message process;
  process.number(descriptor::process_id, static_cast<std::uint32_t>(about.process))
    .text(descriptor::process_name, about.program.data());
  message d;
  d.number(descriptor::uuid, process_track).part(descriptor::process, process);
  to.bytes += message{}.part(trace::packet, message{}.part(packet::track_descriptor, d)).bytes();
}

} // namespace

perfetto_trace to_perfetto(std::span<const std::byte> recording) {
  const auto from = recording_file::read(recording);
  perfetto_trace result;
  result.remarks = from.remarks;
  describe_process(result, from.about);
  std::uint64_t end = 0;
  for (const auto& t : from.threads)
    if (!t.entries.empty())
      end = std::max(end, t.entries.back().time);
  const auto arrows = find_flows(from.threads);
  for (std::size_t i = 0; i < from.threads.size(); ++i)
    track{result, from, i, arrows}.write(end);
  if (result.lost > 0)
    result.remarks
      += std::to_string(result.lost)
         + " records were overwritten before they could be written; the gaps are marked\n";
  return result;
}

} // namespace basal::executors
