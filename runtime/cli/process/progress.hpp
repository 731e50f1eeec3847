// One line on stderr for anything that takes longer than a second; nothing when it is no terminal.
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

 private:
  void show() const;
  std::string what_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace lanewise::cli
