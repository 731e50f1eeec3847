// Preloaded into the program: counts its calls on files below one folder, and lets the Nth of them
// fail as on a full or broken disk. LANEWISE_FAIL_FOLDER names the folder, LANEWISE_FAIL_STEP the
// call (0: none), LANEWISE_FAIL_LOG the file (outside the folder) that gets a line for each call.
// With LANEWISE_WITHOUT_PROC the program finds nothing below /proc.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <typename Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) (*real(&name, #name))

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool below(const char* path) {
  static const std::string folder = setting("LANEWISE_FAIL_FOLDER");
  return path != nullptr && !folder.empty() &&
         std::strncmp(path, folder.c_str(), folder.size()) == 0;
}
bool below(int file) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t n = REAL(readlink)(link.c_str(), path, sizeof path - 1);
  if (n < 0) return false;
  path[n] = 0;
  return below(path);
}
bool below(std::FILE* file) {
  return file != nullptr && below(fileno(file));
}

/// Is it this call's turn? Then errno says why it fails.
bool fails(const char* what, int why) {
  static std::atomic<long> made{0};
  static const long step = std::atol(setting("LANEWISE_FAIL_STEP"));
  static const int log =
      REAL(open)(setting("LANEWISE_FAIL_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const long now = ++made;
  const std::string line = std::to_string(now) + " " + what + (now == step ? " fails\n" : "\n");
  if (log >= 0 && write(log, line.data(), line.size()) < 0) std::abort();
  if (now != step) return false;
  errno = why;
  return true;
}

bool is_missing(const char* path) {
  static const bool without = *setting("LANEWISE_WITHOUT_PROC") != 0;
  if (!without || path == nullptr || std::strncmp(path, "/proc/", 6) != 0) return false;
  errno = ENOENT;
  return true;
}
bool is_missing(int) {
  return false;
}
bool is_missing(std::FILE*) {
  return false;
}

template <typename Place>
bool fails_on(Place place, const char* what, int why) {
  if (is_missing(place)) return true;
  const int before = errno;
  if (below(place) && fails(what, why)) return true;
  errno = before;
  return false;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>(va_arg(more, int));
  va_end(more);
  return fails_on(path, "open", EIO) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>(va_arg(more, int));
  va_end(more);
  return fails_on(path, "open", EIO) ? -1 : REAL(open64)(path, flags, mode);
}
std::FILE* fopen(const char* path, const char* mode) {
  return fails_on(path, "fopen", EMFILE) ? nullptr : REAL(fopen)(path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) {
  return fails_on(path, "fopen", EMFILE) ? nullptr : REAL(fopen64)(path, mode);
}
std::FILE* fdopen(int file, const char* mode) noexcept {
  return fails_on(file, "fdopen", ENOMEM) ? nullptr : REAL(fdopen)(file, mode);
}
/// Half of it is written, as when a disk fills up.
size_t fwrite(const void* data, size_t size, size_t count, std::FILE* file) {
  if (!fails_on(file, "fwrite", ENOSPC)) return REAL(fwrite)(data, size, count, file);
  const size_t half = REAL(fwrite)(data, size, count / 2, file);
  errno = ENOSPC;
  return half;
}
size_t fread(void* data, size_t size, size_t count, std::FILE* file) {
  return fails_on(file, "fread", EIO) ? 0 : REAL(fread)(data, size, count, file);
}
int fflush(std::FILE* file) {
  return fails_on(file, "fflush", ENOSPC) ? EOF : REAL(fflush)(file);
}
int fclose(std::FILE* file) {
  const bool failing = fails_on(file, "fclose", EDQUOT);
  const int done = REAL(fclose)(file);
  if (!failing) return done;
  errno = EDQUOT;
  return EOF;
}
int access(const char* path, int mode) noexcept {
  return is_missing(path) ? -1 : REAL(access)(path, mode);
}
ssize_t readlink(const char* path, char* into, size_t size) noexcept {
  return is_missing(path) ? -1 : REAL(readlink)(path, into, size);
}
int linkat(int from, const char* old, int to, const char* name, int flags) noexcept {
  if (is_missing(old)) return -1;
  return fails_on(name, "linkat", EMLINK) ? -1 : REAL(linkat)(from, old, to, name, flags);
}
int rename(const char* from, const char* to) noexcept {
  return fails_on(to, "rename", EIO) ? -1 : REAL(rename)(from, to);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return fails_on(path, "mkdir", ENOSPC) ? -1 : REAL(mkdir)(path, mode);
}
int fchmod(int file, mode_t mode) noexcept {
  return fails_on(file, "fchmod", EPERM) ? -1 : REAL(fchmod)(file, mode);
}
int fstat(int file, struct stat* into) noexcept {
  return fails_on(file, "fstat", EIO) ? -1 : REAL(fstat)(file, into);
}
int ftruncate(int file, off_t size) noexcept {
  return fails_on(file, "ftruncate", EIO) ? -1 : REAL(ftruncate)(file, size);
}
}
