// One line on stderr for anything that takes longer than a second; nothing when it is no terminal.
// Where the amount of work is known, the line has a percentage.
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace lanewise::cli {

class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// So much of the work is done.
  void done(size_t part, size_t whole);

 private:
  void show() const;
  std::string what_;
  std::atomic<int> percent_ = -1;  ///< -1 = not known
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace lanewise::cli
