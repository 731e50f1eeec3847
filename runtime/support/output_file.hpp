// Files for the user: whole, or not there.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

struct stat;

namespace lanewise {

/// A file in the making. What is written goes into a nameless file (or one with a name of its own)
/// beside the one that was named; commit() puts it there in one step. Without commit(), or when the
/// process ends before, what was there stays as it is; so a program may read the very file that it
/// is about to replace.
///
/// Symbolic links are followed, and the mode of a file that is replaced is kept. A device, a pipe
/// or a stream of this process is written in place, as it cannot be replaced. Every failure is
/// Error(usage) with the name and the reason.
class OutputFile {
 public:
  /// Fails when the file cannot be written later: no such directory, no permission, a directory.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view data);
  void commit();
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  void use(int file);
  void open_in_place(bool pipe);
  void open_beside(const struct stat* old);
  int create_beside();
  void keep_owner_and_mode(int file, const struct stat& old);
  void name_nameless();
  [[noreturn]] void fail(const std::string& why) const;
  [[noreturn]] void fail() const;  ///< with the system's reason

  std::string path_;    ///< as the user named it
  std::string target_;  ///< behind all symbolic links; empty when it is written in place
  std::string beside_;  ///< the unfinished file's name, empty while it has none
  std::unique_ptr<std::FILE, Close> file_;
};

/// All at once.
void write_file(const std::string& path, std::string_view data);

/// Error(usage) now for a file that could not be written later. Nothing is left behind.
void check_writable(const std::string& path);

}  // namespace lanewise
