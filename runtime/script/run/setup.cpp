// What buffers, registers and parameters hold before the first instruction.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "runtime/api/launch/arguments.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/script/run/case_run.hpp"
#include "runtime/support/npy.hpp"
#include "runtime/support/random_bits.hpp"

namespace lanewise::script {
namespace {

void put(std::vector<std::byte>& bytes, uint64_t at, uint64_t value, unsigned size) {
  std::memcpy(bytes.data() + at, &value, size);
}

uint64_t random_element(uint64_t seed, uint64_t n, ir::Type type) {
  return ir::is_float(type) ? float_bits(random_number(seed, n), bits_of(type))
                            : random_bits(seed, n);
}

bool same_type(const std::string& file, ir::Type type) {
  const auto t = type_named(file);
  return t && *t == type;
}

/// A buffer, or a place so many bytes from one. `lets`: how many of them it may use.
bool is_address(const Expr& e, const Names& names, size_t lets = ~size_t{0}) {
  if (e.kind == Expr::Kind::name) {
    for (size_t n = std::min(lets, names.lets.size()); n-- > 0;)
      if (names.lets[n].name == e.text) return is_address(*names.lets[n].value, names, n);
    return names.arrays.contains(e.text);
  }
  if (e.kind != Expr::Kind::binary || (e.text != "+" && e.text != "-")) return false;
  return is_address(*e.args[0], names, lets) != is_address(*e.args[1], names, lets);
}

}  // namespace

Env CaseRun::plain_env() const {
  Env env;
  env.names = &names_;
  return env;
}

Env CaseRun::thread_env(uint64_t thread) {
  Env env = plain_env();
  const uint64_t threads = ran_.block.total();
  const uint64_t tid = thread % threads;
  env.set(Var::lane, tid % ran_.wave_lanes);
  env.set(Var::wave, tid / ran_.wave_lanes);
  env.set(Var::group, thread / threads);
  env.set(Var::tid, tid);
  env.set(Var::gid, thread);
  env.set(Var::lanes, ran_.wave_lanes);
  env.set(Var::waves, (threads + ran_.wave_lanes - 1) / ran_.wave_lanes);
  env.set(Var::groups, ran_.grid.total());
  if (thread < active_.size()) env.set(Var::active, static_cast<uint64_t>(active_[thread]));
  env.list_index = thread;
  return env;
}

void CaseRun::make_buffers() {
  for (const BufferDecl& b : case_.buffers)
    guarded([&] { names_.arrays[b.name] = make_buffer(b); });
}

std::vector<std::byte> CaseRun::file_contents(const BufferDecl& b) {
  if (!options_.read_files) fail(b.loc, "files are not read here");
  const bool relative = !options_.directory.empty() && !std::filesystem::path(b.path).is_absolute();
  const std::string path =
      relative ? (std::filesystem::path(options_.directory) / b.path).string() : b.path;
  npy::Array a;
  try {
    a = npy::read_array(path);
  } catch (const Error& e) {
    fail(b.loc, e.what());
  }
  if (!path.ends_with(".bin") && !same_type(a.type, b.type))
    fail(b.loc, fmt::format("'{}' holds {}, the buffer is {}", path, a.type, type_name(b.type)));
  return a.bytes;
}

uint64_t CaseRun::allocate_pages(const BufferDecl& b, uint64_t bytes) {
  const uint64_t pages =
      (std::max<uint64_t>(bytes, 1) + guest::kSparsePage - 1) >> guest::kSparsePageBits;
  const uint64_t address =
      allocate(pages * guest::kSparsePage, b.name, b.read_only, b.loc, guest::kSparsePage);
  for (const auto& [first, last] : b.absent->ranges)
    if (last >= pages)
      fail(b.loc, fmt::format("'{}' has {} pages of {} bytes, there is no page {}", b.name, pages,
                              guest::kSparsePage, last));
  for (uint64_t n = 0; n < pages; ++n)
    if (b.absent->holds(n, false) && !residency_.set(address + n * guest::kSparsePage, 1, false))
      fail(b.loc, "absent pages must lie in the first 4 GiB of the arena");
  return address;
}

Array CaseRun::make_buffer(const BufferDecl& b) {
  Array a;
  a.type = b.type;
  const unsigned size = ir::size_of(b.type);
  const Env outside = plain_env();
  std::vector<std::byte> file;
  if (b.fill == BufferDecl::Fill::file) file = file_contents(b);
  const bool list = b.first != nullptr && b.first->kind == Expr::Kind::list;
  uint64_t count = b.fill == BufferDecl::Fill::file ? file.size() / size
                   : list                           ? b.first->args.size()
                                                    : 0;
  const uint64_t given = count;
  if (b.count != nullptr) {
    const Value v = evaluate(*b.count, outside);
    if (v.is_real || v.bits > options_.memory_limit / size)
      fail(b.count->loc, fmt::format("expected a number of elements, at most {} bytes in all",
                                     options_.memory_limit));
    count = v.bits;
  }
  if (given > count)
    fail(b.loc, fmt::format("'{}' has {} elements, its contents {}", b.name, count, given));
  a.address = b.absent ? allocate_pages(b, count * size)
                       : allocate(count * size, b.name, b.read_only, b.loc);
  a.bytes.resize(count * size);
  std::memcpy(a.bytes.data(), file.data(), file.size() / size * size);
  if (b.fill == BufferDecl::Fill::zero || b.fill == BufferDecl::Fill::file) return a;
  const Value start = b.fill == BufferDecl::Fill::value || b.first == nullptr
                          ? Value::integer(0)
                          : evaluate(*b.first, outside);
  const Value step = b.second != nullptr ? evaluate(*b.second, outside) : Value::integer(1);
  for (uint64_t i = 0; i < (list ? given : count); ++i) {
    uint64_t bits = 0;
    if (b.fill == BufferDecl::Fill::random) {
      bits = random_element(start.bits, i, b.type);
    } else if (b.fill == BufferDecl::Fill::iota) {
      const Value v = start.is_real || step.is_real
                          ? Value::literal(start.number() + static_cast<double>(i) * step.number())
                          : Value::integer(start.bits + i * step.bits);
      // Counting wraps round, as a register would.
      bits = v.is_real || ir::is_float(b.type) ? encode(v, bits_of(b.type), takes(b.type), b.loc)
                                               : v.bits;
    } else {
      Env env = plain_env();
      env.set(Var::i, i);
      env.list_index = i;
      bits = encode(evaluate(*b.first, env), bits_of(b.type), takes(b.type), b.first->loc);
    }
    put(a.bytes, i * size, bits, size);
  }
  return a;
}

bool CaseRun::is_active(uint64_t group, uint64_t tid) {
  return is_selected(case_.active, case_.active_mask, group, tid);
}

/// Helper and uncovered lanes of a pixel shader store nothing.
bool CaseRun::may_store(const Pixel& p, uint64_t thread) {
  const uint64_t group = thread / ran_.block.total(), tid = thread % ran_.block.total();
  return is_selected(p.covered.lanes, p.covered.mask, group, tid) &&
         !is_selected(p.helpers.lanes, p.helpers.mask, group, tid);
}

bool CaseRun::is_selected(const LaneSet& lanes, const ExprPtr& mask_of, uint64_t group,
                          uint64_t tid) {
  if (mask_of == nullptr) return lanes.holds(tid, true);
  Env env = plain_env();
  env.set(Var::wave, tid / wave_lanes(case_));
  env.set(Var::group, group);
  const uint64_t mask =
      encode(evaluate(*mask_of, env), wave_lanes(case_), Takes::integer, mask_of->loc);
  return (mask >> tid % wave_lanes(case_) & 1) != 0;
}

/// The hidden list of registers, and hidden_.in with their names.
std::vector<std::byte> CaseRun::registers_in() {
  struct Source {
    const RegDecl* decl;
    Register reg;
    std::vector<size_t> slots;
  };
  std::vector<Source> sources;
  for (const RegDecl& d : case_.regs) {
    if (case_.isa != ir::Isa::ptx && !d.type.empty())
      fail(d.loc, fmt::format("only PTX registers have a type, expected reg {}", d.name));
    if (d.value == nullptr) continue;
    Source s{&d, resolve_register(case_, d.name, d.loc), {}};
    if (s.reg.exec) fail(d.loc, "EXEC starts as the active lanes: active mask ...");
    for (const RegisterPart& part : s.reg.parts)
      s.slots.push_back(HiddenRegisters::add(hidden_.in, part));
    sources.push_back(std::move(s));
  }
  size_t stores_slot = 0;
  if (case_.pixel)
    stores_slot =
        HiddenRegisters::add(hidden_.in, {std::string(sass::kStoresEnabled), ir::Width::pred});
  const uint64_t stride = hidden_.in_stride();
  std::vector<std::byte> bytes(ran_.threads() * stride);
  if (bytes.size() > options_.memory_limit) fail(case_.loc, "the registers take too much memory");
  for (uint64_t thread = 0; thread < ran_.threads(); ++thread) {
    const Env env = thread_env(thread);
    put(bytes, thread * stride, static_cast<uint64_t>(active_[thread]), 8);
    if (case_.pixel)
      put(bytes, thread * stride + 8 * (stores_slot + 1), may_store(*case_.pixel, thread) ? 1 : 0,
          8);
    for (const Source& s : sources) {
      const Expr& e = *s.decl->value;
      const auto at = [&](size_t n) { return thread * stride + 8 * (s.slots[n] + 1); };
      if (s.reg.bits == 1) {
        put(bytes, at(0), evaluate(e, env).truth() ? 1 : 0, 8);
      } else if (s.slots.size() == 1) {
        put(bytes, at(0), encode(evaluate(e, env), s.reg.bits, s.reg.takes, e.loc), 8);
      } else {
        const auto words = evaluate_words(e, env, s.reg.words());
        for (size_t n = 0; n < words.size(); ++n) put(bytes, at(n), words[n], 8);
      }
    }
  }
  return bytes;
}

/// Parameters of the stream, each at a multiple of its size.
std::vector<std::byte> CaseRun::parameters() {
  std::vector<std::byte> block;
  for (const ParamDecl& p : case_.params) {
    const unsigned size = std::max(ir::size_of(p.type), 1U);
    const uint64_t at = (block.size() + size - 1) / size * size;
    block.resize(at + size);
    put(block, at, encode(evaluate(*p.value, plain_env()), 8 * size, takes(p.type), p.loc), size);
  }
  return block;
}

std::vector<std::byte> CaseRun::arguments(const ir::Program& p, const Launch& l) {
  if (!p.params.empty() && p.params.size() != l.args.size())
    fail(l.loc, fmt::format("kernel '{}' takes {} arguments, {} are given", p.name, p.params.size(),
                            l.args.size()));
  std::vector<std::byte> block(p.param_bytes);
  uint64_t end = 0;
  for (size_t n = 0; n < l.args.size(); ++n) {
    const Launch::Argument& a = l.args[n];
    unsigned size = a.type ? ir::size_of(*a.type) : 0;
    Takes how = a.type ? takes(*a.type) : Takes::any;
    uint64_t at = size == 0 ? 0 : (end + size - 1) / size * size;
    if (!p.params.empty()) {
      const ir::Param& param = p.params[n];
      if (is_address(*a.value, names_))
        if (const std::string why = host::no_buffer(p, n); !why.empty()) fail(a.loc, why);
      if (param.size > 8) {  // a struct by value
        if (param.size % 4 != 0 || a.type)
          fail(a.loc,
               fmt::format("parameter '{}' is a struct of {} bytes: words(...) gives structs "
                           "of whole words",
                           param.name, param.size));
        const auto words = evaluate_words(*a.value, plain_env(), param.size / 4);
        block.resize(std::max<uint64_t>(block.size(), param.offset + param.size));
        std::memcpy(block.data() + param.offset, words.data(), param.size);
        end = param.offset + param.size;
        continue;
      }
      size = param.size;
      at = param.offset;
      if (!a.type && ir::is_float(param.type)) how = Takes::number;
    } else if (!a.type) {
      fail(a.loc, fmt::format("kernel '{}' does not name its parameters: say the type, as in u32 5",
                              p.name));
    }
    block.resize(std::max<uint64_t>(block.size(), at + size));
    put(block, at, encode(evaluate(*a.value, plain_env()), 8 * size, how, a.loc), size);
    end = at + size;
  }
  return block;
}

}  // namespace lanewise::script
