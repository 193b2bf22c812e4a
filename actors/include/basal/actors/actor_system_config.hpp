#pragma once

#include <caf/actor_system_config.hpp>

#include <iosfwd>
#include <utility>

namespace basal {

/// An ordinary `caf::actor_system_config` whose actor system runs on basal. A CAF program runs on
/// basal by changing this one type, also where it is a base class.
///
/// On the command line and in the file, as CAF's users know them:
///
///     --basal.message-executors=N   executors that run actors    (1 per usable CPU)
///     --basal.compute-executors=N   executors for pure functions (1 per usable CPU)
///     --basal.quantum=200us         time slice                   (50us to 10ms)
///     --basal.stack-bytes=N         stack of each fiber          (256 KiB)
///     --basal.pinning=spread        executors keep to CPUs: one to each core first, or `compact`,
///                                   neighbours first             (none)
///     --basal.stop-deadline=10s     a system that stops waits for its handlers at most so long,
///                                   then says which executors are busy and ends the program
///                                   (without: it says so after 10 s, and waits on)
///
/// Each also as an environment variable, e.g. BASAL_STACK_BYTES. Of several sources the last one
/// counts: default, file, environment, `set` by the program, command line.
///
/// and what adaptive handlers decide by, `--basal.mab-k-starve=0.2` and so on: see knob_options.hpp
/// and mab/knobs.hpp.
///
/// `scheduler.max-threads` stands for message-executors where that is not given, and
/// `scheduler.max-throughput` bounds the messages that an actor handles in a row; the other options
/// of CAF's own schedulers have no effect.
///
/// `parse` and `set` check the values. What escapes them ends the program with a sentence when the
/// actor system starts: in CAF 0.17.6 its constructor cannot fail in another way.
class actor_system_config : public caf::actor_system_config {
public:
  using super = caf::actor_system_config;

  actor_system_config();

  /// @copydoc caf::actor_system_config::parse
  /// @returns `caf::sec::invalid_argument` with a sentence for a value out of its range.
  caf::error parse(string_list args, std::istream& ini);
  caf::error parse(string_list args, const char* ini_file_cstr = nullptr);
  caf::error parse(int argc, char** argv, std::istream& ini);
  caf::error parse(int argc, char** argv, const char* ini_file_cstr = nullptr);

  /// @copydoc caf::actor_system_config::set
  /// @throws std::invalid_argument naming the option, its value and its range; it keeps the value
  ///         then, so `parse` will find it, too.
  template <class T>
  actor_system_config& set(caf::string_view name, T&& value) {
    super::set(name, std::forward<T>(value));
    check();
    return *this;
  }

  /// Includes the group "basal" with its defaults.
  caf::settings dump_content() const override;

private:
  template <class Source>
  caf::error parse_from(string_list args, Source&& source);

  void check() const;
};

} // namespace basal
