// Processor time of this process: of what a caller has others do for it, as a driver's threads do.
#pragma once

#include <vector>

namespace lanewise {

/// Processor time that passes in this process since the object was made, without that of threads
/// which went on computing while the caller waited then: those work for somebody else. Threads that
/// slept or are new count. Errors make it longer, never shorter: the least of several is the best.
class ProcessorTime {
 public:
  /// Waits while others compute, until it is clear which: some milliseconds for each of them.
  ProcessorTime();
  double milliseconds() const;

 private:
  struct Other {
    int thread;    ///< the kernel's number of it
    double start;  ///< its processor time when the object was made, milliseconds
  };

  double start_ = 0;
  std::vector<Other> others_;
};

}  // namespace lanewise
