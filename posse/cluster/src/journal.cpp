#include <basal/cluster/codec.hpp>
#include <basal/cluster/detail/frame.hpp>
#include <basal/cluster/journal.hpp>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace basal::cluster {

using detail::frame_header_bytes;
using detail::frame_kind;
using detail::frame_magic;

namespace {

struct header {
  journal_identity identity;
  std::uint64_t run = 0;
};

template <class Fields>
auto inspect(Fields& f, header& x) {
  return f(x.identity, x.run);
}

int open_file(const std::filesystem::path& path) {
  const int result = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (result < 0)
    throw error{errc::journal_failed, "the journal " + path.string() + " cannot be opened: "
                                        + std::generic_category().message(errno)
                                        + ". Name a file that may be made and written there"};
  return result;
}

/// The size of the frame that begins with these bytes, as it says itself.
std::uint64_t announced_bytes(std::string_view frame_header) {
  return frame_header_bytes + decoder{frame_header.substr(8)}.get<std::uint32_t>();
}

std::string difference(const journal_identity& is, const journal_identity& wanted) {
  const auto named = [](const journal_identity& x) {
    return x.function + ", version " + std::to_string(x.version);
  };
  if (named(is) != named(wanted))
    return "it belongs to the function " + named(is) + ", not to " + named(wanted);
  if (is.signature != wanted.signature)
    return "the function " + is.function + " took or returned other types when it was written";
  if (is.items != wanted.items)
    return "it belongs to " + std::to_string(is.items) + " items, not to "
           + std::to_string(wanted.items);
  return "it belongs to other items";
}

} // namespace

journal::descriptor::~descriptor() {
  ::close(number_);
}

void journal::fail(const char* what, int error_number) const {
  throw error{errc::journal_failed,
              "the journal " + path_.string() + " cannot be " + what + ": "
                + std::generic_category().message(error_number)
                + ". Nothing that it holds is lost: mend that and run the same again"};
}

journal::journal(std::filesystem::path path, const journal_identity& identity, const replay& each)
  : path_(std::move(path)), file_(open_file(path_)) {
  if (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0)
    throw error{errc::journal_in_use,
                "the journal " + path_.string()
                  + " is in use by another process. Wait until it ends, or name another file"};
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0)
    fail("read", errno);
  if (!S_ISREG(status.st_mode))
    throw error{errc::not_a_journal, path_.string() + " is no regular file. Name another one"};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto after_header = read_header(identity, size);
  if (after_header == 0)
    begin(identity);
  else
    read_records(after_header, size, each);
}

journal::~journal() {
  if (failed_ || waiting_.empty())
    return;
  try {
    sync();
  } catch (const error&) {
    // A program that needs to know about errors calls sync().
  }
}

void journal::read_at(std::uint64_t from, char* to, std::size_t count) const {
  while (count > 0) {
    const auto n = ::pread(file_.number(), to, count, static_cast<off_t>(from));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      fail("read", n < 0 ? errno : EIO);
    from += static_cast<std::uint64_t>(n);
    to += n;
    count -= static_cast<std::size_t>(n);
  }
}

/// Reads the frame at `from`, as far as it goes. @returns whether all that it announces is there
bool journal::read_frame(std::uint64_t from, std::uint64_t size, std::string& frame) const {
  frame.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size - from, frame_header_bytes)));
  read_at(from, frame.data(), frame.size());
  if (frame.size() < frame_header_bytes)
    return false;
  const auto wanted = announced_bytes(frame);
  if (wanted > size - from || wanted > frame_header_bytes + detail::max_body_bytes)
    return false;
  frame.resize(static_cast<std::size_t>(wanted));
  read_at(from + frame_header_bytes, frame.data() + frame_header_bytes,
          frame.size() - frame_header_bytes);
  return true;
}

/// @returns where the records begin, or 0 for a file that has none because its header was never
///          written to the end: records come after the header was synced.
std::uint64_t journal::read_header(const journal_identity& identity, std::uint64_t size) {
  std::string frame;
  const auto whole = read_frame(0, size, frame);
  const auto begins = std::string_view{frame}.substr(0, frame_magic.size());
  if (!frame_magic.starts_with(begins))
    throw error{errc::not_a_journal,
                path_.string() + " is no journal; it is left as it is. Name another file"};
  if (!whole) {
    std::string largest;
    detail::seal(largest, frame_kind::journal_header, encode(header{identity, 0}));
    if (size >= largest.size())
      throw error{errc::damaged, "the header of the journal " + path_.string()
                                   + " is damaged. Name another file, or remove it"};
    return 0;
  }
  header found;
  try {
    found = decode<header>(detail::open_whole_frame(frame_kind::journal_header, frame));
  } catch (const error& e) {
    throw error{e.code(), "the header of the journal " + path_.string() + ": " + e.what()
                            + ". Name another file, or remove it"};
  }
  if (found.identity != identity)
    throw error{errc::other_batch, "the journal " + path_.string() + " is one of another batch: "
                                     + difference(found.identity, identity)
                                     + ". Name another file, or remove it"};
  run_ = found.run;
  return frame.size();
}

void journal::begin(const journal_identity& identity) {
  std::random_device random;
  run_ = (std::uint64_t{random()} << 32) | random();
  if (::ftruncate(file_.number(), 0) != 0)
    fail("written", errno);
  detail::seal(waiting_, frame_kind::journal_header, encode(header{identity, run_}));
  sync();
  // The file's name must survive the machine, too.
  const auto parent = path_.parent_path();
  const descriptor folder{::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY)};
  if (folder.number() >= 0)
    ::fsync(folder.number());
}

void journal::read_records(std::uint64_t from, std::uint64_t size, const replay& each) {
  std::string frame;
  for (; from < size && read_frame(from, size, frame); from += frame.size()) {
    std::string_view body;
    try {
      body = detail::open_whole_frame(frame_kind::journal_record, frame);
    } catch (const error&) {
      break;
    }
    each(body);
  }
  written_ = from;
  if (from == size)
    return;
  repaired_bytes_ = static_cast<std::size_t>(size - from);
  if (::ftruncate(file_.number(), static_cast<off_t>(from)) != 0
      || ::fdatasync(file_.number()) != 0)
    fail("repaired", errno);
}

void journal::append(std::string_view record) {
  detail::seal(waiting_, frame_kind::journal_record, record);
  ++unsynced_;
}

void journal::write_out() {
  auto from = written_;
  for (std::string_view rest = waiting_; !rest.empty();) {
    const auto n = ::pwrite(file_.number(), rest.data(), rest.size(), static_cast<off_t>(from));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      const int why = n < 0 ? errno : EIO;
      failed_ = true;
      // The part that was written of the group is torn; it may stay, since opening repairs the
      // journal.
      static_cast<void>(::ftruncate(file_.number(), static_cast<off_t>(written_)) == 0);
      fail("written", why);
    }
    from += static_cast<std::uint64_t>(n);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

void journal::sync() {
  if (failed_)
    fail("written", EIO);
  if (waiting_.empty())
    return;
  write_out();
  // After a failed fdatasync nobody knows what is on the disk: no second try.
  if (::fdatasync(file_.number()) != 0) {
    failed_ = true;
    fail("written", errno);
  }
  written_ += waiting_.size();
  waiting_.clear();
  unsynced_ = 0;
}

} // namespace basal::cluster
