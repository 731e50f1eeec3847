// The devices that a program sees. One device runs the kernels of all of them, with one queue and
// one address space; each has figures, memory, modules, streams and failures of its own.
#pragma once

#include <string>
#include <vector>

namespace lanewise::core {

inline constexpr int kMostDevices = 16;

/// GPUs of LANEWISE_GPU by their numbers, as the lists of visible devices leave them: "0,2" hides
/// all others and makes the third one device 1. A list ends at what names no GPU, or one again.
std::vector<int> visible_devices(const std::string& gpus, const std::vector<std::string>& lists);

int device_count();
/// Throws where there is no such device.
void check_device(int device);
/// The calling thread's.
int current_device();
void set_current_device(int device);

/// Calls inside concern this device.
class OnDevice {
 public:
  explicit OnDevice(int device) : last_(current_device()) { set_current_device(device); }
  ~OnDevice() { set_current_device(last_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int last_;
};

/// 16 bytes, as CUDA has them.
std::string uuid_of(int device);
/// "0000:01:00.0"
std::string bus_name(int device);
int bus_of(int device);
/// Throws where there is none.
int device_at_bus(const char* name);

}  // namespace lanewise::core
