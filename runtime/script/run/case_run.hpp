// One case on its way: prepared, run, compared.
#pragma once

#include <map>

#include "runtime/api/program/globals.hpp"
#include "runtime/guest/allocator.hpp"
#include "runtime/isa/rejected.hpp"
#include "runtime/layout/residency.hpp"
#include "runtime/script/run/cache_watch.hpp"
#include "runtime/script/run/wrap.hpp"
#include "runtime/script/script.hpp"

namespace lanewise::script {

/// What one run can be asked about.
struct Ran {
  Dim3 grid, block;
  uint32_t wave_lanes = 32;
  const ir::Program* program = nullptr;
  LaunchResult result;
  bool stream = false;  ///< code of the case: active lanes and registers are known
  uint64_t threads() const { return grid.total() * block.total(); }
};

class CaseRun {
 public:
  /// Without an engine everything is evaluated and nothing runs.
  CaseRun(const Case& c, const RunOptions& options, Engine* engine)
      : case_(c), options_(options), engine_(engine) {}
  CaseResult run();

 private:
  // --- case_run.cpp: preparation and the sequence of steps
  // -----------------------------------------
  /// Runs one job; its problem becomes a diagnostic.
  template <typename F>
  void guarded(F&& work) {
    try {
      work();
    } catch (const Problem& p) {
      error(p.loc, p.message);
    }
  }
  void prepare_stream(const Code& code);
  void load_modules();
  void check_rejected();
  void collect_registers();
  void upload();
  void clear();
  uint64_t guest_bytes() const;
  uint64_t arena_bytes() const;
  void run_steps();
  void execute(size_t step);
  uint64_t print_buffer() const;
  void launch(const ir::Program& program, LaunchRequest request, bool stream);
  void launch_stream();
  void launch_kernel(const Launch& l);
  std::vector<std::byte> arguments(const ir::Program& p, const Launch& l);
  std::vector<std::byte> parameters();
  void dump(const Dump& d);
  /// Problem when the case takes more than it may.
  void count_memory(uint64_t bytes, const std::string& name, Loc loc);
  uint64_t allocate(uint64_t bytes, const std::string& name, bool read_only, Loc loc,
                    uint64_t align = guest::kAllocAlign);
  /// Gives a module's variables their memory and notes what they hold at first.
  void place_globals(ir::Module& module, Loc loc);
  /// Memory of a buffer that has absent pages.
  uint64_t allocate_pages(const BufferDecl& b, uint64_t bytes);
  void error(Loc loc, const std::string& message);
  void failure(Loc loc, const std::string& message);

  // --- setup.cpp: contents of buffers and registers
  // -------------------------------------------------
  void make_buffers();
  Array make_buffer(const BufferDecl& b);
  std::vector<std::byte> file_contents(const BufferDecl& b);
  std::vector<std::byte> registers_in();
  bool is_active(uint64_t group, uint64_t tid);
  bool is_selected(const LaneSet& lanes, const ExprPtr& mask, uint64_t group, uint64_t tid);
  bool may_store(const Pixel& p, uint64_t thread);

  // --- compare.cpp: expectations
  // ---------------------------------------------------------------------
  void expect(const ExpectRegister& e);
  void expect_exec(const ExpectRegister& e);
  void expect(const ExpectMemory& e);
  void expect(const ExpectCache& e);
  uint64_t plain_integer(const Expr& e);
  void expect_faults(size_t after);
  void compare_faults(const std::vector<const ExpectFault*>& expected);
  uint64_t register_out(const Register& r, uint64_t thread) const;
  std::vector<std::byte> read_buffer(const std::string& name);
  bool in_set(const LaneSet& lanes, uint64_t thread);
  std::string place(uint64_t thread) const;
  Env thread_env(uint64_t thread);
  Env plain_env() const;
  std::string describe(const Fault& f) const;

  const Case& case_;
  const RunOptions& options_;
  Engine* engine_;
  CaseResult result_;
  guest::Allocator allocator_;
  guest::ResidencyMap residency_;
  uint64_t used_ = 0;
  Names names_;
  HiddenRegisters hidden_;
  std::map<std::string, Register> observed_;
  std::vector<char> active_;  ///< per thread of the stream
  ir::Module stream_;
  std::unique_ptr<CacheWatch> watch_;  ///< sees every launch of the case
  bool reported_ = false;              ///< its sink knows what the host has put into buffers
  ir::Program watched_;                ///< the launched program with its trace points
  std::map<std::string, ir::Module> modules_;
  std::map<std::string, isa::RejectedKernel> rejected_;  ///< of those modules, by name
  std::vector<std::pair<uint64_t, std::vector<std::byte>>> uploads_;
  Ran ran_;
  std::vector<std::byte> record_;  ///< of the stream's launch: hidden registers in, then out
  std::vector<std::byte> out_;     ///< the latter after the stream
};

/// Collects the places where an expectation does not hold and words them.
class Differences {
 public:
  void add(const std::string& where, const std::string& expected, const std::string& actual);
  uint64_t count() const { return count_; }
  std::string text(const std::string& what, uint64_t compared, const char* unit) const;

 private:
  uint64_t count_ = 0;
  std::string shown_;
};

}  // namespace lanewise::script
