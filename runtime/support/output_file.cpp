#include "runtime/support/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "lanewise/error_detail.hpp"

namespace lanewise {
namespace {

constexpr mode_t kNewFile = 0666;  // less the umask
constexpr mode_t kPermissions = 07777;
constexpr int kMostLinks = 40;  // as many as Linux follows

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// The standard stream that is this very file, -1 when none is. A shell that redirects a stream has
/// the file open; to rename another over it would part the two.
int own_stream(const struct stat& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat s;
    if (fstat(stream, &s) == 0 && same_file(s, file)) return stream;
  }
  return -1;
}

/// Where a chain of symbolic links ends, also when nothing is there yet; empty with errno set when
/// it does not end.
std::string behind_links(std::string path) {
  namespace fs = std::filesystem;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code ec;
    const fs::path next = fs::read_symlink(path, ec);
    if (ec) return path;
    path = next.is_absolute() ? next.string() : (fs::path(path).parent_path() / next).string();
  }
  errno = ELOOP;
  return {};
}

/// The name under which the system lists an open file, through which one without a name gets one.
std::string listed_name(int file) {
  return fmt::format("/proc/self/fd/{}", file);
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Names that no other process and no other file of this one uses.
std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}/.lanewise-{}-{}.tmp", directory_of(target), getpid(), counter++);
}

}  // namespace

void OutputFile::fail(const std::string& why) const {
  throw DetailedError(ErrorKind::usage, ErrorDetail::host_file,
                      fmt::format("cannot write '{}': {}", path_, why));
}
void OutputFile::fail() const {
  fail(std::strerror(errno));
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  struct stat old;
  const bool there = stat(path_.c_str(), &old) == 0;
  if (!there && errno != ENOENT) fail();
  if (there && S_ISDIR(old.st_mode)) fail("it is a directory");
  if (!there && (path_.empty() || path_.ends_with('/'))) fail("it names no file");
  if (there && (!S_ISREG(old.st_mode) || own_stream(old) >= 0)) {
    const int stream = own_stream(old);
    if (stream < 0) {
      open_in_place(S_ISFIFO(old.st_mode));
    } else {
      use(dup(stream));
    }
    return;
  }
  target_ = behind_links(path_);
  if (target_.empty()) fail();
  // A file that says it is not to be written is not replaced either.
  if (there && faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail();
  open_beside(there ? &old : nullptr);
}

void OutputFile::use(int file) {
  if (file >= 0) file_.reset(fdopen(file, "wb"));
  if (!file_) fail();
}

OutputFile::~OutputFile() {
  if (!beside_.empty()) unlink(beside_.c_str());
}

/// A pipe that nobody reads would be waited for without end.
void OutputFile::open_in_place(bool pipe) {
  const int file = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (pipe ? O_NONBLOCK : 0));
  if (file < 0 && pipe && errno == ENXIO) fail("nothing reads from this pipe");
  if (file < 0) fail();
  if (pipe) fcntl(file, F_SETFL, O_WRONLY);
  use(file);
}

int OutputFile::create_beside() {
  const int nameless =
      open(directory_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewFile);
  if (nameless >= 0 && access(listed_name(nameless).c_str(), F_OK) == 0) return nameless;
  if (nameless >= 0)
    close(nameless);  // it could not be named where /proc is not mounted
  else if (errno == ENOENT || errno == EACCES || errno == EROFS)
    return nameless;
  // Not every file system knows files without a name.
  for (;;) {
    beside_ = temporary_name(target_);
    const int named = open(beside_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kNewFile);
    if (named >= 0 || errno != EEXIST) {
      if (named < 0) beside_.clear();
      return named;
    }
  }
}

void OutputFile::open_beside(const struct stat* old) {
  const int file = create_beside();
  if (file < 0 && errno == ENOENT)
    fail(fmt::format("there is no directory '{}'", directory_of(target_)));
  if (file < 0)
    fail(fmt::format("no file can be made in '{}': {}", directory_of(target_),
                     std::strerror(errno)));
  if (old != nullptr) keep_owner_and_mode(file, *old);
  use(file);
}

/// The owner as far as this process may set it; a file that changes hands loses what it could do in
/// its old owner's name. A file that was hidden from others stays hidden, or is not replaced.
void OutputFile::keep_owner_and_mode(int file, const struct stat& old) {
  struct stat now;
  if (fstat(file, &now) != 0) fail();
  const bool same = now.st_uid == old.st_uid && now.st_gid == old.st_gid;
  const bool kept = same || fchown(file, old.st_uid, old.st_gid) == 0;
  const mode_t mode = old.st_mode & (kept ? kPermissions : mode_t{0777});
  if ((now.st_mode & kPermissions) != mode && fchmod(file, mode) != 0) fail();
}

void OutputFile::write(std::string_view data) {
  if (std::fwrite(data.data(), 1, data.size(), file_.get()) != data.size()) fail();
}

void OutputFile::name_nameless() {
  const std::string here = listed_name(fileno(file_.get()));
  for (;;) {
    const std::string name = temporary_name(target_);
    if (linkat(AT_FDCWD, here.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      beside_ = name;
      return;
    }
    if (errno != EEXIST) fail();
  }
}

void OutputFile::commit() {
  if (std::fflush(file_.get()) != 0) fail();
  if (!target_.empty() && beside_.empty()) name_nameless();
  // Some file systems say only here that the disk is full.
  if (std::fclose(file_.release()) != 0) fail();
  if (target_.empty()) return;
  if (std::rename(beside_.c_str(), target_.c_str()) != 0) fail();
  beside_.clear();
}

void write_file(const std::string& path, std::string_view data) {
  OutputFile file(path);
  file.write(data);
  file.commit();
}

void check_writable(const std::string& path) {
  struct stat there;
  const bool in_place = stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
  // A pipe that is opened and closed again shows its reader that all is over.
  if (in_place && access(path.c_str(), W_OK) == 0 && !S_ISDIR(there.st_mode)) return;
  const OutputFile file(path);
}

}  // namespace lanewise
