#pragma once

#include <caf/actor_system_config.hpp>

#include <iosfwd>
#include <string>
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
///     --basal.stack-bytes=N         stack of each fiber            (8 MiB)
///     --basal.pinning=spread        executors keep to CPUs: one to each core first, or `compact`,
///                                   neighbours first             (none)
///     --basal.stop-deadline=10s     a system that stops waits for its handlers at most so long,
///                                   then says which executors are busy and ends the program
///                                   (without: it says so after 10 s, and waits on)
///
/// and what adaptive handlers decide by, `--basal.mab-k-starve=0.2` and so on: see knob_options.hpp
/// and mab/knobs.hpp.
///
/// Each also as an environment variable, e.g. BASAL_STACK_BYTES. Of several sources the last one
/// counts: default, file, environment, `set` by the program, command line.
///
/// `scheduler.max-threads` stands for message-executors where that is not given, and
/// `scheduler.max-throughput` bounds the messages that an actor handles in a row; the other options
/// of CAF's own schedulers have no effect.
///
/// `parse` and `set` check names, types and values of these options, where CAF 0.17.6 drops what it
/// does not understand; where a number is expected, a whole one will do. What escapes them ends the
/// program with a sentence when the actor system starts: in CAF its constructor cannot fail in
/// another way.
class actor_system_config : public caf::actor_system_config {
public:
  using super = caf::actor_system_config;

  actor_system_config();

  /// @copydoc caf::actor_system_config::parse
  /// @returns `caf::sec::invalid_argument` with a sentence for an unknown option of basal, and for
  ///          a value of the wrong type or out of its range.
  caf::error parse(string_list args, std::istream& ini);
  caf::error parse(string_list args, const char* ini_file_cstr = nullptr);
  caf::error parse(int argc, char** argv, std::istream& ini);
  caf::error parse(int argc, char** argv, const char* ini_file_cstr = nullptr);

  /// @copydoc caf::actor_system_config::set
  /// @throws std::invalid_argument naming the option of basal, its value and its range or type; it
  ///         keeps the value then, so `parse` will find it, too.
  template <class T>
  actor_system_config& set(caf::string_view name, T&& value) {
    caf::config_value wrapped{std::forward<T>(value)};
    if (!set_ours(std::string{name.begin(), name.end()}, wrapped))
      super::set(name, std::move(wrapped));
    return *this;
  }

  /// Includes the group "basal" with its defaults.
  caf::settings dump_content() const override;

private:
  /// @returns false for options that are not of basal
  bool set_ours(const std::string& name, const caf::config_value& value);
};

} // namespace basal
