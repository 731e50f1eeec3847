// Plain data around devices, programs and launches.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lanewise/types.hpp"

namespace lanewise {

/// Facts about one device. Sizes in bytes.
struct DeviceInfo {
  int index = -1;      ///< position for `--device INDEX`, -1 = the reference engine
  std::string name;    ///< as the driver says it; "reference" is the CPU engine
  std::string driver;  ///< driver name and version
  std::string tier;  ///< "T0", "T1", "T2" (what the device can do), "cpu" for the reference engine
  std::string type;  ///< "discrete" "integrated" "virtual" "cpu" "reference"
  uint32_t subgroup_size = 0;
  uint32_t max_invocations = 0;  ///< per work-group
  uint32_t max_shared = 0;
  uint64_t max_arena = 0;
  /// Not empty: the device can translate and compile, but runs nothing; what is assumed of it.
  std::string profile;
  bool int64 = false, int16 = false, int8 = false, float16 = false, float64 = false;
};

/// What language an input file is in; automatic = by its ending and first bytes.
enum class Isa : uint8_t { automatic, ptx, sass, gcn };

struct LaunchOptions {
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;  ///< bytes
  Memcheck memcheck = Memcheck::alloc;
  /// automatic: the environment variable LANEWISE_WAVE decides, as it was when the device was
  /// opened.
  WaveMode wave = WaveMode::automatic;
  /// 0 = none. Counts translation, the driver's compiler and the run; on expiry Error(budget). When
  /// the driver was compiling or the kernel could not be stopped, the device is lost: whatever else
  /// it is asked for is Error(device), and its memory stays until the process ends.
  double timeout_seconds = 0;
  /// Named choices where documents are silent or disagree; see docs/policies.md.
  std::map<std::string, std::string> policies = {};
  /// Set to true from any thread, it ends the launch: Error(budget), the device stays usable and
  /// the buffers hold what was written. Looked at before the start and while the kernel runs, not
  /// while it is translated and compiled.
  const std::atomic<bool>* cancel = nullptr;
};

struct ParamInfo {
  std::string name;
  uint32_t offset = 0, size = 0;
  bool pointer = false;
  /// "u32", "s64", "f32", ...; empty where only the size is known: structs, untyped parameters.
  std::string type;
};

/// What a device would run for a launch.
struct TranslatedKernel {
  std::vector<uint32_t> spirv;
  std::string wave_mode, wave_reason;  ///< as in Result; wave_reason says why
};

/// A place of the guest address space that belongs to a module variable.
struct SymbolInfo {
  uint64_t address = 0, size = 0;
};

}  // namespace lanewise
