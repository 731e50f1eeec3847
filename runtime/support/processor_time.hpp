// Processor time of this process: of what a caller has others do for it, as a driver's threads do.
#pragma once

#include <vector>

namespace lanewise {

/// Processor time that passes in this process since the object was made, without that of threads
/// which were running then: those work for somebody else. Threads that waited or are new count.
class ProcessorTime {
 public:
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
