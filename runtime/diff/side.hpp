// One of the two kernels of a comparison: loaded, launched, and watched as it stores.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "lanewise/lanewise.hpp"
#include "runtime/api/program/loader.hpp"
#include "runtime/diff/freedom.hpp"
#include "runtime/diff/inputs.hpp"
#include "runtime/guest/engine.hpp"

namespace lanewise::diff {

/// A kernel as a file holds it.
struct Form {
  std::string file, kernel, target;
  Isa isa = Isa::automatic;
};

/// The file without a device: its programs, and what is wrong with others.
host::detail::Compiled compile(const Form& form);

/// What a launch left behind.
struct Outcome {
  std::vector<std::vector<std::byte>> buffers;  ///< one for each input, empty for scalars
  std::map<std::string, std::vector<std::byte>> variables;  ///< of the module, by name
  std::set<std::string> written;  ///< variables that are not as the module brought them
  /// Where things lay: of each input (0 for scalars), and variables by name with their sizes.
  std::vector<uint64_t> addresses;
  std::map<std::string, std::pair<uint64_t, uint64_t>> variable_addresses;
  std::vector<FaultReport> faults;
  uint64_t fault_count = 0;
};

/// Where an instruction of the guest stands.
struct Place {
  std::string text;
  uint32_t line = 0;
  uint64_t pc = 0;
};

/// Bytes that one lane wrote.
struct Store {
  size_t input = 0;  ///< index of the buffer; behind the last one: a variable of the module
  uint64_t offset = 0;
  uint32_t bytes = 0;
  uint64_t group = 0;  ///< linear
  uint32_t lane = 0;   ///< of the group
  Place place;
};

/// A launch on the reference engine with its stores in the order in which they happened.
struct Watched {
  Outcome outcome;
  std::vector<Store> stores;
  bool all_stores = true;  ///< false: there were too many to keep them all
  double bound = 0;        ///< how far the results of one lane may be from those of another engine
};

/// What a watched launch does otherwise than others.
struct Variation {
  WaveSchedule schedule = WaveSchedule::until_stop;
  bool moved = false;             ///< everything lies at other addresses
  bool last_group_first = false;  ///< groups run in reverse order
};

class Side {
 public:
  /// Error(usage) and CompileError as Device::load_file.
  Side(const Form& form, const std::string& device);

  const std::string& kernel() const { return kernel_; }
  const ir::Program& program() const { return program_; }
  const Freedom& freedom() const { return freedom_; }
  /// Variables of the module that its kernels may write: name and size.
  const std::map<std::string, uint64_t>& variables() const { return variables_; }

  Outcome run(const LaunchOptions& options, const std::vector<Input>& inputs);
  Watched watch(const LaunchOptions& options, const std::vector<Input>& inputs,
                const Variation& variation = {}) const;

 private:
  Outcome run_on(Device& device, Module& module, const LaunchOptions& options,
                 const std::vector<Input>& inputs) const;

  Form form_;
  std::string kernel_;
  ir::Program program_;
  Freedom freedom_;
  std::map<std::string, uint64_t> variables_;
  std::map<std::string, uint64_t> all_variables_;  ///< and those that are constant
  Device device_;
  Module module_;
  std::map<std::string, std::vector<std::byte>> initial_;  ///< contents of the variables
};

}  // namespace lanewise::diff
