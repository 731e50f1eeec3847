// What becomes of the user's files, whatever they are and whatever goes wrong.
#include "runtime/support/output_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "runtime/support/error.hpp"

using namespace lanewise;
namespace fs = std::filesystem;

namespace {

/// A folder of this test's own; relative names are inside it.
class Folder {
 public:
  Folder() : before_(fs::current_path()) {
    char name[] = "/tmp/lanewise-files-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
    fs::current_path(path_);
  }
  ~Folder() {
    fs::current_path(before_);
    fs::remove_all(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator("."), {}));
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path before_, path_;
};

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::usage);
    return e.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

mode_t mode_of(const std::string& path) {
  struct stat s;
  REQUIRE(stat(path.c_str(), &s) == 0);
  return s.st_mode & 07777;
}

/// The exit code of the work in a process of its own, which may do to itself what it likes.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int code = 99;
    try {
      code = work();
    } catch (...) {
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a file is there when it is committed, and not before") {
  const Folder folder;
  {
    OutputFile file("new");
    file.write("some");
    CHECK(!fs::exists("new"));
    file.write(" text");
    file.commit();
  }
  CHECK(slurp("new") == "some text");
  {
    OutputFile file("new");
    file.write(std::string(1 << 20, 'x'));
    CHECK(slurp("new") == "some text");
  }
  CHECK(slurp("new") == "some text");
  CHECK(folder.entries() == 1);
  check_writable("another");
  check_writable("new");
  CHECK(slurp("new") == "some text");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a killed process leaves the old file and nothing else") {
  const Folder folder;
  put("file", "old");
  const int code = in_child([] {
    OutputFile file("file");
    file.write(std::string(1 << 20, 'x'));
    return raise(SIGKILL);
  });
  CHECK(code == 128 + SIGKILL);
  CHECK(slurp("file") == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("symbolic links are followed, and modes kept") {
  const Folder folder;
  const mode_t mask = umask(027);
  write_file("plain", "1");
  CHECK(mode_of("plain") == 0640);
  umask(mask);
  fs::create_directory("there");
  put("there/target", "old");
  chmod("there/target", 0604);
  fs::create_symlink("there/target", "link");
  fs::create_symlink(folder.path() / "link", "link2");
  write_file("link2", "new");
  CHECK(fs::is_symlink("link2"));
  CHECK(fs::is_symlink("link"));
  CHECK(slurp("there/target") == "new");
  CHECK(mode_of("there/target") == 0604);
  // One that leads to nothing yet.
  fs::create_symlink("there/later", "dangling");
  write_file("dangling", "made");
  CHECK(fs::is_symlink("dangling"));
  CHECK(slurp("there/later") == "made");
  fs::create_symlink("round", "round");
  CHECK(contains(error_of([] { write_file("round", "x"); }), "cannot write 'round': "));
}

TEST_CASE("what is no file is refused or written in place") {
  const Folder folder;
  fs::create_directory("folder");
  CHECK(error_of([] { write_file("folder", "x"); }) == "cannot write 'folder': it is a directory");
  CHECK(error_of([] { check_writable("folder"); }) == "cannot write 'folder': it is a directory");
  CHECK(contains(error_of([] { write_file("no/such", "x"); }), "there is no directory 'no'"));
  CHECK(contains(error_of([] { write_file("", "x"); }), "it names no file"));
  CHECK(contains(error_of([] { write_file("absent/", "x"); }), "it names no file"));
  put("file", "old");
  CHECK(contains(error_of([] { write_file("file/x", "x"); }), "Not a directory"));

  REQUIRE(mkfifo("pipe", 0600) == 0);
  CHECK(contains(error_of([] { write_file("pipe", "x"); }), "nothing reads from this pipe"));
  const int reader = open("pipe", O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  check_writable("pipe");
  write_file("pipe", "through");
  char text[16] = {};
  CHECK(read(reader, text, sizeof text) == 7);
  CHECK(std::string(text) == "through");
  close(reader);
  CHECK(fs::is_fifo("pipe"));
}

TEST_CASE("a device is written in place") {
  const Folder folder;
  // Root could lose the system's own if this went wrong; a user could not.
  const bool root = geteuid() == 0;
  if (root && mknod("full", S_IFCHR | 0666, makedev(1, 7)) != 0) {
    MESSAGE("skipped: no devices here");
    return;
  }
  const std::string full = root ? "full" : "/dev/full";
  CHECK(error_of([&] { write_file(full, "x"); }) ==
        "cannot write '" + full + "': No space left on device");
  check_writable(full);
  CHECK(fs::is_character_file(full));
}

TEST_CASE("a full disk leaves the old file and says why") {
  const Folder folder;
  put("file", "old");
  const int code = in_child([] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{10000, 10000};
    if (setrlimit(RLIMIT_FSIZE, &most) != 0) return 50;
    const std::string small = error_of([] { write_file("small", "fits"); });
    if (small != "no error") return 51;
    // While writing, and in the end, when what is left in the buffer goes out.
    for (const size_t size : {size_t{1} << 20, size_t{12000}}) {
      const std::string reported = error_of([size] { write_file("file", std::string(size, 'x')); });
      if (reported != "cannot write 'file': File too large") return 52;
    }
    return 0;
  });
  CHECK(code == 0);
  CHECK(slurp("file") == "old");
  CHECK(slurp("small") == "fits");
  CHECK(folder.entries() == 2);
}

TEST_CASE("an unprivileged user's rights hold") {
  const Folder folder;
  fs::permissions(".", fs::perms::all);
  put("theirs", "old");
  chmod("theirs", 0644);
  fs::create_directory("closed");
  put("closed/open", "old");
  chmod("closed/open", 0666);
  chmod("closed", 0755);
  const int code = in_child([] {
    if (getuid() == 0 && setgid(65534) + setuid(65534) != 0) return 50;
    if (getuid() != 65534) {  // not root: the same from the other side
      chmod("theirs", 0444);
      chmod("closed", 0555);
    }
    // To rename over it would work, as the directory is open; the file says no.
    if (!contains(error_of([] { write_file("theirs", "new"); }), "Permission denied")) return 51;
    if (!contains(error_of([] { check_writable("theirs"); }), "Permission denied")) return 52;
    if (!contains(error_of([] { write_file("closed/open", "new"); }),
                  "no file can be made in 'closed': Permission denied"))
      return 53;
    write_file("own", "new");
    return 0;
  });
  CHECK(code == 0);
  CHECK(slurp("theirs") == "old");
  CHECK(slurp("closed/open") == "old");
  CHECK(slurp("own") == "new");
  chmod("closed", 0755);
}

TEST_CASE("a stream of this process is written where it stands") {
  const Folder folder;
  const int code = in_child([] {
    if (freopen("stream", "w", stdout) == nullptr) return 50;
    std::fputs("first\n", stdout);
    std::fflush(stdout);
    write_file("/dev/stdout", "second\n");
    std::fputs("third\n", stdout);
    return std::fflush(stdout) == 0 ? 0 : 51;
  });
  CHECK(code == 0);
  CHECK(slurp("stream") == "first\nsecond\nthird\n");
}
