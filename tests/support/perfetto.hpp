#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace basal::test {

/// A test's view of a trace in Perfetto's format, read as a protocol buffer.
class perfetto_reader {
public:
  struct event {
    std::uint64_t time = 0;
    std::uint64_t type = 0; ///< 1: slice begins, 2: slice ends, 3: instant, 4: counter
    std::string name;
    std::vector<std::uint64_t> flows;
  };

  /// By the name of the track, without the thread's number, in the order of the file.
  std::map<std::string, std::vector<event>> tracks;

  /// @throws std::runtime_error for what is no protocol buffer, and for packets that Perfetto drops
  explicit perfetto_reader(std::string_view trace) {
    for (const auto& packet : fields(trace))
      if (packet.number == 1)
        add_packet(packet.bytes);
  }

  /// Empty, or what is wrong: a slice that ends without having begun or never ends, or an event
  /// before its predecessor.
  std::string nesting_problem() const {
    for (const auto& [name, events] : tracks) {
      int depth = 0;
      std::uint64_t time = 0;
      for (const auto& e : events) {
        depth += e.type == 1 ? 1 : e.type == 2 ? -1 : 0;
        if (depth < 0 || e.time < time)
          return name + ": " + (depth < 0 ? "an end without a beginning" : "goes back in time");
        time = e.time;
      }
      if (depth != 0)
        return name + ": a slice does not end";
    }
    return {};
  }

  /// How many events of that type there are on tracks whose name begins so.
  int count(std::string_view track, std::uint64_t type, std::string_view name) const {
    int result = 0;
    for (const auto& [its_name, events] : tracks)
      if (its_name.starts_with(track))
        for (const auto& e : events)
          result += e.type == type && e.name == name ? 1 : 0;
    return result;
  }

  /// The names of events through which each flow goes, in the order of time.
  std::map<std::uint64_t, std::vector<std::string>> flows() const {
    std::multimap<std::uint64_t, const event*> by_time;
    for (const auto& [name, events] : tracks)
      for (const auto& e : events)
        by_time.emplace(e.time, &e);
    std::map<std::uint64_t, std::vector<std::string>> result;
    for (const auto& [time, e] : by_time)
      for (const auto flow : e->flows)
        result[flow].push_back(e->name);
    return result;
  }

private:
  struct field {
    std::uint64_t number;
    std::uint64_t value = 0;
    std::string_view bytes;
  };

  static std::vector<field> fields(std::string_view message) {
    std::vector<field> result;
    auto take_number = [&] {
      std::uint64_t value = 0;
      for (unsigned shift = 0;; shift += 7) {
        if (message.empty() || shift > 63)
          throw std::runtime_error("no protocol buffer: a number does not end");
        const auto byte = static_cast<unsigned char>(message.front());
        message.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80)
          return value;
      }
    };
    while (!message.empty()) {
      const auto key = take_number();
      field f{key >> 3, 0, {}};
      const auto wire = key & 7;
      if (wire == 0) {
        f.value = take_number();
      } else {
        const auto size = wire == 1 ? 8 : take_number();
        if ((wire != 1 && wire != 2) || size > message.size())
          throw std::runtime_error("no protocol buffer: a field is cut off");
        f.bytes = message.substr(0, size);
        for (unsigned i = 0; wire == 1 && i < 8; ++i)
          f.value |= std::uint64_t{static_cast<unsigned char>(f.bytes[i])} << 8 * i;
        message.remove_prefix(size);
      }
      result.push_back(f);
    }
    return result;
  }

  void add_packet(std::string_view packet) {
    event e;
    std::uint64_t track = 0;
    std::uint64_t sequence = 0;
    std::uint64_t name = 0;
    std::uint64_t flags = 0; ///< 1: the sequence has no names yet, 2: needs to know that
    bool is_event = false;
    for (const auto& f : fields(packet)) {
      if (f.number == 8)
        e.time = f.value;
      else if (f.number == 10)
        sequence = f.value;
      else if (f.number == 13)
        flags = f.value;
      else if (f.number == 60)
        add_descriptor(f.bytes);
    }
    if ((flags & 1) != 0)
      cleared_.insert(sequence);
    if ((flags & 2) != 0 && !cleared_.contains(sequence))
      throw std::runtime_error("an event before its sequence says that it has no names");
    for (const auto& f : fields(packet)) {
      if (f.number == 12) {
        for (const auto& entry : fields(f.bytes))
          add_name(sequence, entry.bytes);
      } else if (f.number == 11) {
        is_event = true;
        for (const auto& part : fields(f.bytes)) {
          if (part.number == 9)
            e.type = part.value;
          else if (part.number == 10)
            name = part.value;
          else if (part.number == 11)
            track = part.value;
          else if (part.number == 47)
            e.flows.push_back(part.value);
        }
      }
    }
    if (!is_event)
      return;
    if (name != 0)
      e.name = names_.at({sequence, name});
    tracks[track_names_.at(track)].push_back(e);
  }

  void add_descriptor(std::string_view bytes) {
    std::uint64_t id = 0;
    std::string name;
    for (const auto& f : fields(bytes)) {
      if (f.number == 1)
        id = f.value;
      else if (f.number == 2)
        name = f.bytes;
    }
    track_names_[id] = name;
  }

  void add_name(std::uint64_t sequence, std::string_view bytes) {
    std::uint64_t number = 0;
    std::string text;
    for (const auto& f : fields(bytes)) {
      if (f.number == 1)
        number = f.value;
      else if (f.number == 2)
        text = f.bytes;
    }
    names_[{sequence, number}] = text;
  }

  std::map<std::uint64_t, std::string> track_names_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names_;
  std::set<std::uint64_t> cleared_; ///< sequences
};

} // namespace basal::test
