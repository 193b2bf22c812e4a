#pragma once

#include <caf/actor_system_config.hpp>

#include <iosfwd>
#include <string>
#include <utility>

namespace basal {

/// An ordinary `caf::actor_system_config` whose actor system runs on basal. A CAF program runs on
/// basal by changing this one type, also where it is a base class.
///
/// Its options are in the group "basal" (`--help` lists them, docs/options.md has a table), each
/// also as an environment variable: `--basal.stack-bytes=N`, BASAL_STACK_BYTES. Whoever writes last
/// wins, as in CAF: what the program sets before `parse` are its defaults; `parse` writes the file,
/// the environment and the command line, in this order; what the program sets after `parse` is
/// final. An option that nobody has written comes from the environment, else it has its default.
///
/// `scheduler.max-threads` is CAF's name of `basal.message-executors`; where one source gives both,
/// ours counts. `scheduler.max-throughput` bounds the messages that an actor handles in a row, and
/// `scheduler.policy = testing` is CAF's deterministic scheduler; the other options of CAF's own
/// schedulers have no effect, and `--dump-config` leaves them out.
///
/// `parse` and `set` check names, types and values of these options, where CAF 0.17.6 drops what it
/// does not understand; where a number is expected, a whole one will do. They are not virtual: what
/// is written through a `caf::actor_system_config&` is checked by the constructor of the actor
/// system, which throws `std::invalid_argument` with the same sentence.
class actor_system_config : public caf::actor_system_config {
public:
  using super = caf::actor_system_config; ///< CAF's own

  actor_system_config();

  /// Does what CAF's own does, and checks the options of basal.
  /// @returns `caf::sec::invalid_argument` with a sentence for an unknown option of basal, and for
  ///          a value of the wrong type or out of its range.
  /// @{
  caf::error parse(string_list args, std::istream& ini);
  caf::error parse(string_list args, const char* ini_file_cstr = nullptr);
  caf::error parse(int argc, char** argv, std::istream& ini);
  caf::error parse(int argc, char** argv, const char* ini_file_cstr = nullptr);
  /// @}

  /// Does what CAF's own does, and checks the options of basal.
  /// @throws std::invalid_argument naming the option of basal, its value and its range or type; it
  ///         keeps the value then, so `parse` will find it, too.
  template <class T>
  actor_system_config& set(caf::string_view name, T&& value) {
    caf::config_value wrapped{std::forward<T>(value)};
    if (!set_ours(std::string{name.begin(), name.end()}, wrapped))
      super::set(name, std::move(wrapped));
    return *this;
  }

  /// With the group "basal", complete, and of CAF's schedulers what is true here.
  caf::settings dump_content() const override;

private:
  void write_environment(const caf::settings& on_command_line);

  /// @returns false for options that are not of basal
  bool set_ours(const std::string& name, const caf::config_value& value);
};

namespace actors::detail {

/// Has `cfg` load the scheduler and gives it our messages and options, which it will have to check
/// itself: for configurations that do not derive from the one above.
void prepare(caf::actor_system_config& cfg, caf::config_option_set& known);

} // namespace actors::detail

} // namespace basal
