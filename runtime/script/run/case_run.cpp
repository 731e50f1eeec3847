#include "runtime/script/run/case_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "runtime/api/program/loader.hpp"
#include "runtime/api/program/policies.hpp"
#include "runtime/guest/launch_block.hpp"
#include "runtime/guest/printed.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/print_records.hpp"
#include "runtime/script/run/stream.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/support/npy.hpp"

namespace lanewise::script {
namespace {

constexpr uint64_t kMaxThreads = uint64_t{1} << 22;
/// Scripts see an arena of at least this size, so that what lies behind a buffer is the same for
/// all of them.
constexpr uint64_t kMinArena = uint64_t{1} << 20;

std::string joined(const std::string& directory, const std::string& path) {
  if (directory.empty() || std::filesystem::path(path).is_absolute()) return path;
  return (std::filesystem::path(directory) / path).string();
}

}  // namespace

void CaseRun::error(Loc loc, const std::string& message) {
  result_.diagnostics.push_back({loc.line, loc.column, message, false});
}
void CaseRun::failure(Loc loc, const std::string& message) {
  result_.failures.push_back({loc.line, loc.column, message, false});
}

void CaseRun::count_memory(uint64_t bytes, const std::string& name, Loc loc) {
  used_ += bytes;
  if (used_ > options_.memory_limit || bytes > options_.memory_limit)
    fail(loc, fmt::format("'{}' of {} bytes makes the case larger than {} bytes", name, bytes,
                          options_.memory_limit));
}

uint64_t CaseRun::allocate(uint64_t bytes, const std::string& name, bool read_only, Loc loc,
                           uint64_t align) {
  count_memory(bytes, name, loc);
  return allocator_.allocate(std::max<uint64_t>(bytes, 1), name, read_only, align);
}

void CaseRun::place_globals(ir::Module& module, Loc loc) {
  for (auto& g : host::detail::place_globals(module, [&](const ir::Global& global) {
         return allocate(global.size, global.name, global.space == ir::Space::constant, loc);
       })) {
    if (g.name == sass::kSparseMap) {
      const auto map = residency_.bytes();
      g.bytes.assign(map.begin(), map.end());
    }
    uploads_.emplace_back(g.address, std::move(g.bytes));
  }
}

/// The registers that expectations and dumps mention.
void CaseRun::collect_registers() {
  const auto want = [&](const std::string& name, Loc loc) {
    guarded([&] {
      const Register r = resolve_register(case_, name, loc);
      observed_.emplace(name, r);
      for (const RegisterPart& part : r.parts) HiddenRegisters::add(hidden_.out, part);
    });
  };
  for (const Step& s : case_.steps) {
    if (const auto* e = std::get_if<ExpectRegister>(&s)) want(e->name, e->loc);
    if (const auto* d = std::get_if<Dump>(&s); d != nullptr && !names_.arrays.contains(d->name))
      want(d->name, d->loc);
  }
}

void CaseRun::prepare_stream(const Code& code) {
  if (case_.grid.total() * block_of(case_).total() > kMaxThreads)
    fail(case_.loc, fmt::format("a stream runs on at most {} threads", kMaxThreads));
  if (case_.pixel && case_.isa != ir::Isa::sass)
    fail(case_.pixel->loc, "only SASS has a pixel mode");
  ran_.grid = case_.grid;
  ran_.block = block_of(case_);
  ran_.wave_lanes = wave_lanes(case_);
  for (uint64_t n = 0; n < ran_.threads(); ++n)
    active_.push_back(is_active(n / ran_.block.total(), n % ran_.block.total()) ? 1 : 0);
  hidden_.partial = std::ranges::find(active_, 0) != active_.end();
  std::vector<std::string> observed;
  for (const auto& [name, r] : observed_) observed.push_back(name);
  host::detail::Compiled compiled = compile_stream(case_, code, observed);
  result_.diagnostics.insert(result_.diagnostics.end(), compiled.diagnostics.begin(),
                             compiled.diagnostics.end());
  if (!compiled.ok() || !case_.rejected.empty()) return;
  std::erase_if(result_.diagnostics, [](const Diagnostic& d) { return d.warning; });
  stream_ = std::move(compiled.module);
  place_globals(stream_, case_.loc);
  static_cast<void>(parameters());  // their problems are the case's
  record_ = registers_in();
  hidden_.out_at = record_.size();
  record_.resize(record_.size() + ran_.threads() * hidden_.out_stride());
  count_memory(record_.size(), "registers", case_.loc);
  ir::Program& program = stream_.kernels[0];
  const std::map<std::string, std::string> asked(case_.policies.begin(), case_.policies.end());
  host::detail::apply_policies(program, host::detail::complete_policies(asked));
  wrap(program, hidden_, ran_.grid, ran_.block);
  for (const std::string& defect : ir::verify(program))
    error(code.loc, "internal error: the wrapped stream is malformed: " + defect);
}

void CaseRun::load_modules() {
  for (const auto& [loc, name] : case_.modules) {
    const std::string path = joined(options_.directory, name);
    const std::string text = read_file(path);
    host::detail::Compiled compiled =
        host::detail::compile(text, {.name = path, .include_folder = folder_of(path)});
    for (const isa::RejectedKernel& r : compiled.rejected) rejected_.emplace(r.name, r);
    if (!compiled.usable()) {
      for (const Diagnostic& d : compiled.diagnostics)
        if (!d.warning) error(loc, format(path, d));
      continue;
    }
    place_globals(compiled.module, loc);
    modules_.emplace(path, std::move(compiled.module));
  }
}

/// Every message the assembler gave must be an expected one, and the other way round.
void CaseRun::check_rejected() {
  const std::vector<Diagnostic> given = std::exchange(result_.diagnostics, {});
  for (const Rejected& r : case_.rejected) {
    const bool found = std::ranges::any_of(given, [&](const Diagnostic& d) {
      return !d.warning && d.message.find(r.message) != std::string::npos;
    });
    if (!found)
      failure(r.loc, given.empty() ? "expected the code to be rejected, it was accepted"
                                   : fmt::format("no error says \"{}\"", r.message));
  }
  for (const Diagnostic& d : given) {
    const bool expected = std::ranges::any_of(case_.rejected, [&](const Rejected& r) {
      return d.message.find(r.message) != std::string::npos;
    });
    if (!expected && !d.warning)
      failure({d.line, d.column}, "an error that was not expected: " + d.message);
  }
}

CaseResult CaseRun::run() {
  result_.name = case_.name + (case_.bindings.empty() ? "" : fmt::format(" [{}]", case_.bindings));
  result_.line = case_.loc.line;
  try {
    names_.lets = case_.lets;
    names_.budget = options_.step_limit;
    if (!case_.cache.preset.empty() || options_.events != nullptr)
      watch_ = std::make_unique<CacheWatch>(case_.cache, options_.events);
    make_buffers();
    load_modules();
    collect_registers();
    for (const Step& s : case_.steps)
      if (const auto* code = std::get_if<Code>(&s)) prepare_stream(*code);
  } catch (const Problem& p) {
    error(p.loc, p.message);
  } catch (const Error& e) {
    error(case_.loc, e.what());
  }
  if (!case_.rejected.empty()) {
    check_rejected();
    return std::move(result_);
  }
  if (!result_.ok()) return std::move(result_);
  if (engine_ != nullptr) upload();
  run_steps();
  if (engine_ != nullptr) clear();
  return std::move(result_);
}

void CaseRun::upload() {
  engine_->reserve(arena_bytes());
  for (const auto& [name, a] : names_.arrays)
    if (!a.bytes.empty()) engine_->write(a.address, a.bytes);
  for (const auto& [address, bytes] : uploads_)
    if (!bytes.empty()) engine_->write(address, bytes);
}

/// What the guest may use. Parameters lie behind it.
uint64_t CaseRun::guest_bytes() const {
  return std::max(kMinArena, allocator_.end());
}

uint64_t CaseRun::arena_bytes() const {
  return std::max(guest_bytes(), allocator_.high_water());
}

/// The next case finds the arena as a fresh one would be.
void CaseRun::clear() {
  const uint64_t all = arena_bytes();
  const std::vector<std::byte> zeros(std::min(all, kMinArena));
  for (uint64_t done = 0; done < all; done += zeros.size())
    engine_->write(guest::kArenaBase + done,
                   std::span(zeros).first(std::min<uint64_t>(zeros.size(), all - done)));
}

void CaseRun::run_steps() {
  for (size_t n = 0; n < case_.steps.size(); ++n) {
    try {
      execute(n);
    } catch (const Problem& p) {
      error(p.loc, p.message);
      return;
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::device) throw;
      // An engine refuses a program with an error of the guest's; the rest is about the launch.
      if (e.kind() == ErrorKind::guest)
        result_.unsupported = e.what();
      else
        failure(case_.loc, fmt::format("cannot run: {}", e.what()));
      return;
    }
  }
}

void CaseRun::execute(size_t n) {
  const Step& s = case_.steps[n];
  if (std::holds_alternative<Code>(s)) {
    launch_stream();
    expect_faults(n);
  } else if (const auto* l = std::get_if<Launch>(&s)) {
    launch_kernel(*l);
    expect_faults(n);
  } else if (const auto* r = std::get_if<ExpectRegister>(&s)) {
    expect(*r);
  } else if (const auto* m = std::get_if<ExpectMemory>(&s)) {
    expect(*m);
  } else if (const auto* k = std::get_if<ExpectCache>(&s)) {
    expect(*k);
  } else if (const auto* d = std::get_if<Dump>(&s)) {
    dump(*d);
  }
}

/// 0: no kernel of the case prints.
uint64_t CaseRun::print_buffer() const {
  const auto& all = allocator_.allocations();
  const auto at = std::ranges::find(all, guest::kPrintBuffer, &Allocation::name);
  return at == all.end() ? 0 : at->address;
}

void CaseRun::launch(const ir::Program& program, LaunchRequest request, bool stream) {
  ran_ = {request.grid, request.block, program.wave_lanes, &program, {}, stream};
  if (engine_ == nullptr) return;
  if (program.needs.scratch_bytes != 0) {
    throw Error(ErrorKind::usage,
                fmt::format("kernel '{}' uses scratch memory, which scripts do not lay down; "
                            "launch it with 'lanewise run'",
                            program.name));
  }
  const std::map<std::string, std::string> asked(case_.policies.begin(), case_.policies.end());
  request.program = &program;
  request.params.resize(std::max<size_t>(request.params.size(), program.param_bytes));
  const uint64_t param_bytes =
      std::max<uint64_t>(guest::bytes_with_launch_block(program, request.params.size()), 1);
  count_memory(param_bytes, "parameters", case_.loc);
  request.param_address =
      allocator_.allocate_parameters(param_bytes, "(parameters)", guest_bytes());
  request.readable = request.writable = guest_bytes();
  if (ir::addresses_parameters(program))
    request.readable = request.param_address + param_bytes - guest::kArenaBase;
  guest::add_launch_block(program,
                          {.grid = request.grid,
                           .block = request.block,
                           .shared_bytes = program.shared_bytes + request.dynamic_shared,
                           .param_address = request.param_address,
                           .print_address = print_buffer()},
                          request.params);
  request.block = guest::launched_block(program, request.block);
  request.allocations = allocator_.allocations();
  request.memcheck = case_.memcheck;
  request.wave = case_.wave_mode;
  request.policies = host::detail::complete_policies(asked);
  request.step_budget = host::detail::step_budget(request.policies);
  engine_->reserve(arena_bytes());
  if (!request.params.empty()) engine_->write(request.param_address, request.params);
  if (watch_ != nullptr) {
    if (!reported_) watch_->report_buffers(request.allocations);
    reported_ = true;
    watched_ = program;
    watch_->observe(watched_, request);
  }
  ran_.result = engine_->launch(request);
  result_.printed +=
      guest::take_printed(*engine_, allocator_.allocations(), program, print_buffer());
}

void CaseRun::launch_stream() {
  LaunchRequest request;
  request.grid = case_.grid;
  request.block = block_of(case_);
  request.dynamic_shared = case_.dynamic_shared;
  request.params = parameters();
  request.record = record_;
  launch(stream_.kernels[0], std::move(request), true);
  out_.assign(record_.begin() + static_cast<ptrdiff_t>(hidden_.out_at), record_.end());
}

void CaseRun::launch_kernel(const Launch& l) {
  ir::Program* program = nullptr;
  std::string known;
  for (auto& [path, module] : modules_)
    for (ir::Program& p : module.kernels) {
      if (p.name == l.kernel) program = &p;
      known += (known.empty() ? "" : ", ") + p.name;
    }
  if (const auto bad = rejected_.find(l.kernel); program == nullptr && bad != rejected_.end())
    fail(l.loc, fmt::format("kernel '{}' cannot run: {}", l.kernel,
                            bad->second.diagnostics.front().message));
  if (program == nullptr)
    fail(l.loc, fmt::format("no kernel '{}'; there are: {}", l.kernel, known));
  LaunchRequest request;
  request.grid = l.grid;
  request.block = l.block;
  request.dynamic_shared = l.shared;
  request.params = arguments(*program, l);
  const std::map<std::string, std::string> asked(case_.policies.begin(), case_.policies.end());
  ir::Program changed = *program;
  if (host::detail::apply_policies(changed, host::detail::complete_policies(asked)))
    *program = changed;
  launch(*program, std::move(request), false);
}

void CaseRun::dump(const Dump& d) {
  if (engine_ == nullptr) return;
  npy::Array a;
  if (const auto it = names_.arrays.find(d.name); it != names_.arrays.end()) {
    a.type = std::string(type_name(it->second.type));
    a.shape = {it->second.count()};
    a.bytes = read_buffer(d.name);
  } else {
    const Register& r = observed_.at(d.name);
    const ir::Type type = r.as.value_or(r.bits == 64 ? ir::Type::u64 : ir::Type::u32);
    if (r.bits > 64) fail(d.loc, fmt::format("'{}' is too wide for an array", d.name));
    a.type = std::string(type_name(type));
    a.shape = {ran_.threads()};
    for (uint64_t n = 0; n < ran_.threads(); ++n) {
      const uint64_t v = register_out(r, n);
      const auto* bytes = reinterpret_cast<const std::byte*>(&v);
      a.bytes.insert(a.bytes.end(), bytes, bytes + ir::size_of(type));
    }
  }
  if (a.type[0] == 's') a.type[0] = 'i';  // as --arg spells them
  npy::write_array(d.path, a);
}

CaseResult check(const Case& c, const RunOptions& options) {
  return CaseRun(c, options, nullptr).run();
}

CaseResult run(const Case& c, Engine& engine, const RunOptions& options) {
  return CaseRun(c, options, &engine).run();
}

}  // namespace lanewise::script
