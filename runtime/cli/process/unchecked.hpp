// A run with --memcheck off: on devices that are this processor, a wrong guest address is a wrong
// address of this process.
#pragma once

namespace lanewise::cli {

/// While it lives, a segmentation fault or bus error of any thread ends the process with exit code
/// 1 and a message. The program does this, the library never touches signals.
class UncheckedAccess {
 public:
  UncheckedAccess();
  ~UncheckedAccess();
  UncheckedAccess(const UncheckedAccess&) = delete;
  UncheckedAccess& operator=(const UncheckedAccess&) = delete;
};

}  // namespace lanewise::cli
