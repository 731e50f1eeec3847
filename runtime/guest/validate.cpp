#include "runtime/guest/validate.hpp"

#include <limits>
#include <string>

#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::guest {
namespace {

std::string text(const Dim3& d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::usage, why);
}

/// Threads of one group; a number above every limit when the product would not fit.
uint64_t lanes_of(const Dim3& d) {
  const uint64_t plane = uint64_t{d.x} * d.y;
  return plane > kMaxLanesPerGroup ? plane : plane * d.z;
}

void check_grid(const Dim3& grid) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    refuse("grid " + text(grid) + " has no work-group: every dimension must be at least 1");
  }
  const uint64_t plane = uint64_t{grid.x} * grid.y;
  if (plane > std::numeric_limits<uint64_t>::max() / grid.z) {
    refuse("grid " + text(grid) + " has more work-groups than 64 bits can count");
  }
}

void check_block(const ir::Program& program, const Dim3& block) {
  if (block.x == 0 || block.y == 0 || block.z == 0) {
    refuse("block " + text(block) + " has no thread: every dimension must be at least 1");
  }
  const uint64_t lanes = lanes_of(block);
  if (lanes > kMaxLanesPerGroup) {
    refuse("block " + text(block) + " has more than " + std::to_string(kMaxLanesPerGroup) +
           " threads");
  }
  const uint32_t* need = program.required_block;
  const Dim3 required{need[0], need[1] != 0 ? need[1] : 1, need[2] != 0 ? need[2] : 1};
  if (need[0] != 0 && !(required == block)) {
    refuse("kernel " + program.name + " requires a block of " + text(required) + ", not " +
           text(block));
  }
  if (program.max_block != 0 && lanes > program.max_block) {
    refuse("kernel " + program.name + " allows at most " + std::to_string(program.max_block) +
           " threads a block, not " + std::to_string(lanes));
  }
}

void check_memory(const LaunchRequest& request) {
  const ir::Program& program = *request.program;
  if (request.params.size() < program.param_bytes) {
    refuse("kernel " + program.name + " takes " + std::to_string(program.param_bytes) +
           " bytes of parameters, " + std::to_string(request.params.size()) + " were given");
  }
  const uint64_t shared = shared_bytes(program, request.dynamic_shared);
  if (shared > kWindowSize) {
    refuse("kernel " + program.name + " would need " + std::to_string(shared) +
           " bytes of shared memory; the window holds " + std::to_string(kWindowSize));
  }
  if (program.local_bytes > kWindowSize) {
    refuse("kernel " + program.name + " needs " + std::to_string(program.local_bytes) +
           " bytes of local memory a thread; the window holds " + std::to_string(kWindowSize));
  }
}

}  // namespace

uint64_t shared_bytes(const ir::Program& program, uint32_t dynamic_shared) {
  const uint64_t own = ((uint64_t{program.shared_bytes} + 15) & ~uint64_t{15}) + dynamic_shared;
  if (program.reserved_shared == 0) return own;
  return ((own + 15) & ~uint64_t{15}) + program.reserved_shared;
}

void validate(const LaunchRequest& request) {
  if (request.program == nullptr) refuse("a launch needs a program");
  if (request.program->blocks.empty()) refuse("kernel " + request.program->name + " has no code");
  check_grid(request.grid);
  check_block(*request.program, request.block);
  check_memory(request);
  if (checks_written(request) && request.memcheck == Memcheck::off)
    refuse(
        "reads of memory that nobody wrote (check init) are looked for in accesses that are "
        "allowed, and with memcheck off nobody asks which are");
}

}  // namespace lanewise::guest
