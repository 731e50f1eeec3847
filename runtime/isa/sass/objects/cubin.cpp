// Cubins: kernels with their code, control words, parameters, constant banks and relocations.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/isa/absent.hpp"
#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/sass/lowering/link.hpp"
#include "runtime/isa/sass/objects/cubin_names.hpp"
#include "runtime/isa/sass/objects/info.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/layout/texture_block.hpp"

namespace lanewise::sass {
namespace {

using elf::Bytes;
using elf::ElfError;

constexpr uint16_t kCudaMachine = 190;
constexpr uint8_t kLocal = 0, kWeak = 2;  // bindings
// Relocations: a function's address in JCAL, halves of a variable's in MOV32I; a place in shared
// memory, or in a constant bank as a number; the bank and the word of an operand, and of LDC.
constexpr uint32_t kCallTarget = 0x2a, kAbs32Low = 0x2b, kAbs32High = 0x2c, kSharedPlace = 0x2d,
                   kConstantPlace = 0x2e, kConstantWord = 0x32, kConstantByte = 0x36;
// In the initial values of variables: an address, or a generic one.
constexpr uint32_t kPointer32 = 1, kPointer64 = 2, kGeneric32 = 3, kGeneric64 = 4;
constexpr uint64_t kMaxWindow = 16 << 20;  // shared and local memory of one group or lane
constexpr uint64_t kMaxBank = 64 << 10;    // one constant bank

// In bank 0 of a kernel: handles of textures, samplers and surfaces; and their symbols' kinds.
// Halves of what the device runtime takes as the kernel to launch.
constexpr uint32_t kKernelLow = 0x30, kKernelHigh = 0x31;
constexpr uint32_t kTextureHandle = 6, kSamplerHandle = 7, kSurfaceHandle = 0x34;
constexpr uint8_t kTextureSymbol = 10, kSamplerSymbol = 11, kSurfaceSymbol = 12;
constexpr uint64_t kMaxCommon = uint64_t{1} << 30;  // bytes of a variable that no file fills
constexpr std::string_view kSharedSection = ".nv.shared.";

class CubinReader {
 public:
  CubinReader(Bytes bytes, Listing& listing, size_t max_errors)
      : size_(bytes.size()), file_(elf::parse(bytes)), listing_(listing), max_errors_(max_errors) {}

  void run(bool is_part) {
    if (file_.machine != kCudaMachine)
      throw ElfError(
          fmt::format("machine {} is no CUDA device, expected {}", file_.machine, kCudaMachine));
    // Where the number of the architecture stands in e_flags.
    constexpr unsigned kAbiOfCuda13 = 8;
    const unsigned arch = file_.flags >> (file_.abi_version >= kAbiOfCuda13 ? 8 : 0) & 0xff;
    listing_.arch = known_arch(std::to_string(arch));
    if (listing_.arch == 0)
      return report(fmt::format("sm_{} machine code is not supported: give its PTX, or code for {}",
                                arch, kKnownArchs));
    if (const elf::Section* s = file_.section(".nv.info")) stack_ = stack_sizes(s->data);
    sort_by_section();
    read_lines();
    lay_out_shared();
    read_globals();
    read_references();
    read_pointers();
    for (size_t n = 0; n < file_.sections.size(); ++n)
      if (file_.sections[n].name.rfind(".text.", 0) == 0) read_code_section(n);
    if (listing_.kernels.empty() && !is_part) throw ElfError("the cubin holds no kernel");
    for (const elf::Symbol& s : file_.symbols)
      if (s.section != 0 && (s.kind == elf::kFunction || is_variable(s)))
        listing_.bindings[s.name] = s.binding == kLocal                  ? Binding::own
                                    : s.binding == kWeak || is_common(s) ? Binding::weak
                                                                         : Binding::global;
    listing_.stated = linked_names(file_);
  }

 private:
  bool full() const { return max_errors_ != 0 && listing_.diagnostics.size() >= max_errors_; }
  void report(std::string message, bool warning = false) {
    if (!full()) listing_.diagnostics.push_back({0, 0, std::move(message), warning});
  }

  /// About one kernel: the others run all the same.
  void complain(Kernel& k, const std::string& message) const {
    if (max_errors_ == 0 || k.diagnostics.size() < max_errors_)
      k.diagnostics.push_back({0, 0, fmt::format("kernel '{}': {}", k.name, message), false});
  }

  /// Code runs without them.
  void read_lines() {
    try {
      lines_ = elf::source_lines(file_);
    } catch (const ElfError& e) {
      report(fmt::format("broken .debug_line: {}; faults name no line of the source", e.what()),
             true);
    }
  }

  /// What belongs to a section of code is looked up for each of them.
  void sort_by_section() {
    for (uint32_t n = 0; n < file_.symbols.size(); ++n)
      if (file_.symbols[n].kind == elf::kFunction)
        functions_[file_.symbols[n].section].push_back(n);
    for (const elf::Section& s : file_.sections)
      if ((s.type == elf::kRel || s.type == elf::kRela) &&
          s.name.find(".text.") != std::string::npos)
        relocations_[s.info % (1U << 24)].push_back(&s);
  }

  /// Module variables: every object in .nv.global and .nv.global.init; bank 3 is one variable, as
  /// code reads it by offset.
  void read_globals() {
    uint64_t claimed = 0;
    for (const elf::Symbol& s : file_.symbols) {
      if (is_common(s)) {
        if (s.size > kMaxCommon) throw ElfError(fmt::format("variable '{}' is too large", s.name));
        ir::Global g;
        g.name = s.name;
        g.align = 256;
        g.size = s.size;
        variables_.insert(g.name);
        listing_.globals.push_back(std::move(g));
      }
      if (!is_variable(s) || s.section >= file_.sections.size()) continue;
      const elf::Section& in = file_.sections[s.section];
      if (in.name != ".nv.global" && in.name != ".nv.global.init") continue;
      if (s.value > in.size || in.size - s.value < s.size)
        throw ElfError(fmt::format("variable '{}' lies outside its section", s.name));
      claimed += in.data.empty() ? 0 : s.size;
      if (claimed > 2 * size_) throw ElfError("its variables lie on top of each other");
      ir::Global g;
      g.name = s.name;
      g.align = 256;
      g.size = s.size;
      if (!in.data.empty())
        g.init.assign(in.data.begin() + static_cast<ptrdiff_t>(s.value),
                      in.data.begin() + static_cast<ptrdiff_t>(s.value + s.size));
      variables_.insert(g.name);
      if (s.size != 0) variable_at_[{s.section, s.value}] = listing_.globals.size();
      listing_.globals.push_back(std::move(g));
    }
    if (const elf::Section* s = file_.section(".nv.constant3")) {
      module_bank_ = add_bank(3, *s, module_bank_name());
      variable_at_[{static_cast<size_t>(s - file_.sections.data()), 0}] =
          listing_.globals.size() - 1;
      module_bank_->bytes.clear();  // every kernel gets a copy
    }
  }

  /// Textures, samplers and surfaces that the module declares: blocks that the host fills in.
  void read_references() {
    for (const elf::Symbol& s : file_.symbols) {
      const uint32_t role = s.kind == kTextureSymbol   ? guest::kIsTexture
                            : s.kind == kSamplerSymbol ? guest::kIsSampler
                            : s.kind == kSurfaceSymbol ? guest::kIsSurface
                                                       : 0;
      if (role == 0 || !variables_.insert(s.name).second) continue;
      ir::Global g;
      g.name = s.name;
      g.space = ir::Space::constant;
      g.align = g.size = guest::kTextureBlockBytes;
      const uint32_t magic =
          role == guest::kIsSampler ? guest::kTextureMagic : guest::kUnboundMagic;
      g.init.resize(g.size);
      for (unsigned byte = 0; byte < 4; ++byte)
        g.init[guest::texture_offset(guest::TextureWord::image, 9) + byte] =
            std::byte((magic << 16 | role) >> (8 * byte) & 0xff);
      listing_.globals.push_back(std::move(g));
    }
  }
  void read_handles(Kernel& k) const {
    const std::string name = ".nv.constant0." + k.name;
    for (const elf::Section& s : file_.sections) {
      if ((s.type != elf::kRel && s.type != elf::kRela) || !s.name.ends_with(name)) continue;
      for (const elf::Reloc& r : file_.relocations(s)) {
        Reference& reference = k.references[static_cast<unsigned>(r.offset)];
        const std::string& symbol = file_.symbols[r.symbol].name;
        if (r.type == kTextureHandle || r.type == kSurfaceHandle)
          reference.image = symbol;
        else if (r.type == kSamplerHandle)
          reference.sampler = symbol;
        else
          complain(k, fmt::format("relocation type {:#x} at {:#x} of {} is not supported", r.type,
                                  r.offset, name));
      }
    }
    std::erase_if(k.references, [](const auto& r) { return r.second.image.empty(); });
  }

  /// Initial values of variables that are addresses of others, or of functions.
  void read_pointers() {
    for (const elf::Section& s : file_.sections) {
      const size_t about = s.info % (1U << 24);
      if ((s.type != elf::kRel && s.type != elf::kRela) || about >= file_.sections.size()) continue;
      const std::string& name = file_.sections[about].name;
      if (name != ".nv.global.init" && name != ".nv.constant3") continue;
      for (const elf::Reloc& r : file_.relocations(s)) add_pointer(about, r);
    }
  }
  void add_pointer(size_t section, const elf::Reloc& r) {
    const elf::Symbol& to = file_.symbols[r.symbol];
    const bool wide = r.type == kPointer64 || r.type == kGeneric64;
    if (!wide && r.type != kPointer32 && r.type != kGeneric32)
      return report(
          fmt::format("relocation type {:#x} in the initial values of variables ('{}') is "
                      "not supported",
                      r.type, to.name));
    if (!has_address(to))
      return report(
          fmt::format("an initial value is the address of '{}', which is no variable and "
                      "no function with a section of its own",
                      to.name));
    uint64_t offset = r.offset;
    ir::Global* g = variable_at(section, offset);
    const uint8_t size = wide ? 8 : 4;
    if (g == nullptr || g->init.size() < offset + size)
      return report(fmt::format("the relocation at {:#x} of '{}' is in no variable", r.offset,
                                file_.sections[section].name));
    uint64_t in_place = 0;
    for (unsigned n = 0; n < size; ++n)
      in_place |= std::to_integer<uint64_t>(g->init[offset + n]) << (8 * n);
    g->relocs.push_back({offset, to.name, r.addend + static_cast<int64_t>(in_place), size});
  }
  /// The variable that holds this byte of a section; the offset becomes that in the variable.
  ir::Global* variable_at(size_t section, uint64_t& offset) {
    auto at = variable_at_.upper_bound({section, offset});
    if (at == variable_at_.begin()) return nullptr;
    const auto& [place, index] = *--at;
    ir::Global& g = listing_.globals[index];
    if (place.first != section || offset - place.second >= g.size) return nullptr;
    offset -= place.second;
    return &g;
  }

  static bool is_common(const elf::Symbol& s) { return is_variable(s) && s.section == kCommon; }
  /// The name of the only variable in bank 3, so that it can be found; else the bank's own.
  std::string module_bank_name() const {
    std::vector<std::string> names;
    for (const elf::Symbol& s : file_.symbols)
      if (is_variable(s) && s.section < file_.sections.size() &&
          file_.sections[s.section].name == ".nv.constant3")
        names.push_back(s.name);
    return names.size() == 1 ? names[0] : "c[0x3]";
  }

  ConstantBank add_bank(unsigned number, const elf::Section& s, std::string name) {
    if (s.data.size() > kMaxBank)
      throw ElfError(fmt::format("constant bank {} of {} bytes, expected at most {}", number,
                                 s.data.size(), kMaxBank));
    ConstantBank bank;
    bank.number = number;
    bank.bytes.assign(s.data.begin(), s.data.end());
    bank.symbol = std::move(name);
    bank.size = s.data.size();
    ir::Global g;
    g.name = bank.symbol;
    g.space = ir::Space::constant;
    g.align = 256;
    g.size = bank.bytes.size();
    g.init = bank.bytes;
    variables_.insert(g.name);
    listing_.globals.push_back(std::move(g));
    return bank;
  }

  void read_code_section(size_t section) {
    const elf::Section& text = file_.sections[section];
    Kernel k;
    k.name = text.name.substr(6);
    k.registers = text.info >> 24;
    const uint32_t symbol = function_symbol(section, k.name);
    if (symbol == ir::kNone) return report(fmt::format("'{}' holds no kernel symbol", text.name));
    const bool is_kernel = (file_.symbols[symbol].other & kEntry) != 0;
    if (is_kernel) entries_.insert(k.name);
    if (const auto stack = stack_.find(symbol); stack != stack_.end())
      k.local_bytes = (checked_window(stack->second, "a stack") + 15) / 16 * 16;
    if (const elf::Section* s = file_.section(".nv.info." + k.name)) {
      if (is_kernel) read_parameters(s->data, k);
      read_jumps(s->data, k);
    }
    if (const elf::Section* s = file_.section(".nv.shared." + k.name))
      k.shared_bytes = checked_window(s->size, "shared memory");
    if (const elf::Section* s = file_.section(".nv.constant2." + k.name))
      k.banks.push_back(add_bank(2, *s, k.name + ".c[0x2]"));
    if (module_bank_) k.banks.push_back(*module_bank_);
    read_handles(k);
    read_code(k, text.data);
    if (const auto lines = lines_.find(section); lines != lines_.end())
      k.lines = std::move(lines->second);
    read_labels(k, section);
    read_relocations(k, section);
    (is_kernel ? listing_.kernels : listing_.functions).push_back(std::move(k));
  }

  static uint32_t checked_window(uint64_t bytes, const char* what) {
    if (bytes > kMaxWindow)
      throw ElfError(fmt::format("{} of {} bytes, expected at most {}", what, bytes, kMaxWindow));
    return static_cast<uint32_t>(bytes);
  }

  uint32_t function_symbol(size_t section, const std::string& name) const {
    for (const uint32_t n : functions_of(section))
      if (file_.symbols[n].name == name) return n;
    return ir::kNone;
  }
  std::span<const uint32_t> functions_of(size_t section) const {
    const auto found = functions_.find(section);
    return found != functions_.end() ? std::span<const uint32_t>(found->second)
                                     : std::span<const uint32_t>();
  }

  void read_code(Kernel& k, Bytes code) {
    if (code.size() % 32 != 0 || code.empty())
      throw ElfError(fmt::format("the code of '{}' has {} bytes, expected a multiple of 32", k.name,
                                 code.size()));
    Decoded d = decode_bundles(code, listing_.arch, max_errors_);
    for (const Diagnostic& x : d.diagnostics) complain(k, x.message);
    k.code = std::move(d.code);
  }

  /// Device functions stand inside their kernel's code.
  void read_labels(Kernel& k, size_t section) {
    for (const uint32_t n : functions_of(section)) {
      const elf::Symbol& s = file_.symbols[n];
      if (s.name == k.name) continue;
      const auto at = instruction_at(k, s.value % 32 == 0 ? s.value + 8 : s.value);
      if (at != k.code.end())
        k.labels.push_back({s.name, static_cast<size_t>(at - k.code.begin())});
    }
  }
  /// Code lies in the order of its addresses.
  static std::vector<Instruction>::const_iterator instruction_at(const Kernel& k, uint64_t pc) {
    const auto at = std::ranges::lower_bound(k.code, pc, {}, &Instruction::pc);
    return at != k.code.end() && at->pc == pc ? at : k.code.end();
  }

  void read_relocations(Kernel& k, size_t section) const {
    const auto found = relocations_.find(section);
    if (found == relocations_.end()) return;
    for (const elf::Section* s : found->second)
      for (const elf::Reloc& r : file_.relocations(*s)) add_relocation(k, r);
  }
  void add_relocation(Kernel& k, const elf::Reloc& r) const {
    const auto at = instruction_at(k, r.offset);
    if (at == k.code.end())
      return complain(k, fmt::format("the relocation at {:#x} is not at an instruction", r.offset));
    switch (r.type) {
      case kCallTarget:
        if (!at->form->is(kAbsolute)) break;
        k.calls.push_back({at->pc, file_.symbols[r.symbol].name});
        return;
      case kAbs32Low:
      case kAbs32High:
        if (at->form->mnemonic != "MOV32I") break;
        return add_variable_half(k, *at, r);
      case kSharedPlace:
      case kConstantPlace:
      case kConstantWord:
      case kConstantByte:
        if (put_place(k, k.code[static_cast<size_t>(at - k.code.begin())], r)) return;
        break;
      case kKernelHigh:  // its other half is refused
        return;
      case kKernelLow:
        return complain(
            k, isa::device_launch_refusal(fmt::format("the address of kernel '{}' at {:#x}",
                                                      file_.symbols[r.symbol].name, r.offset)));
      default:
        break;
    }
    complain(k, fmt::format("relocation type {:#x} at {:#x} ({}) is not supported", r.type,
                            r.offset, print(*at)));
  }

  /// What nothing has given an address yet is laid out here as a linker would: an object's symbol
  /// in a section of shared memory says its alignment.
  void lay_out_shared() {
    std::map<size_t, uint64_t> used;
    for (const elf::Symbol& s : file_.symbols) {
      if (!is_variable(s) || s.section >= file_.sections.size() ||
          !file_.sections[s.section].name.starts_with(kSharedSection))
        continue;
      const uint64_t align = std::max<uint64_t>(s.value, 1);
      uint64_t& end = used[s.section];
      const uint64_t place = (end + align - 1) / align * align;
      shared_places_[&s] = place;
      end = place + s.size;
    }
  }
  std::optional<uint64_t> shared_place(const Kernel& k, const elf::Symbol& wanted) const {
    // Dynamic shared memory begins behind the kernel's own.
    constexpr uint64_t kAlign = 16;
    const bool dynamic = wanted.kind == kCudaObject && wanted.section == 0;
    if (dynamic && entries_.contains(k.name))
      return (k.shared_bytes + kAlign - 1) / kAlign * kAlign;
    const auto found = shared_places_.find(&wanted);
    if (found == shared_places_.end()) return std::nullopt;
    const std::string_view section = file_.sections[wanted.section].name;
    if (section.substr(kSharedSection.size()) != k.name) return std::nullopt;
    return found->second;
  }

  struct BankPlace {
    uint64_t bank = 0, offset = 0;
  };
  std::optional<BankPlace> constant_place(const elf::Symbol& s) const {
    constexpr std::string_view kSection = ".nv.constant";
    if (s.section >= file_.sections.size()) return std::nullopt;
    const std::string& name = file_.sections[s.section].name;
    if (!name.starts_with(kSection) || name.size() == kSection.size()) return std::nullopt;
    const char bank = name[kSection.size()];
    if (bank != '2' && bank != '3') return std::nullopt;
    return BankPlace{static_cast<uint64_t>(bank - '0'), s.value};
  }

  /// Adds a place to the field that the relocation is about; false where there is no such field.
  bool put_place(const Kernel& k, Instruction& i, const elf::Reloc& r) const {
    using Kind = OperandSpec::Kind;
    const elf::Symbol& symbol = file_.symbols[r.symbol];
    const auto constant = constant_place(symbol);
    const auto shared = r.type == kSharedPlace ? shared_place(k, symbol) : std::nullopt;
    if (r.type == kSharedPlace ? !shared : !constant) return false;
    const uint64_t place = (shared ? *shared : constant->offset) + static_cast<uint64_t>(r.addend);
    uint64_t word = i.word;
    const auto add = [&](Field field, uint64_t number) {
      field.set(word, field.get(word) + number);
    };
    const auto has = [&](Kind kind) {
      return std::ranges::find(i.form->operands, kind, &OperandSpec::kind) !=
             i.form->operands.end();
    };
    const bool number = i.form->mnemonic == "MOV32I";
    switch (r.type) {
      case kSharedPlace:
        if (!number && !has(Kind::address)) return false;
        add({20, 24}, place);
        break;
      case kConstantPlace:
        if (!number) return false;
        add({20, 16}, place);
        break;
      case kConstantWord:
        if (!has(Kind::cbank) || place % 4 != 0) return false;
        add({20, 14}, place / 4);
        Field{34, 5}.set(word, constant->bank);
        break;
      default:
        if (!has(Kind::cindex)) return false;
        add({20, 16}, place);
        Field{36, 5}.set(word, constant->bank);
        break;
    }
    if (decode_form(word, listing_.arch) != i.form) return false;
    i.word = word;
    return true;
  }

  /// A function with a section of its own is known by its name; another file may have what this one
  /// does not define.
  bool has_address(const elf::Symbol& s) const {
    if (s.section == 0) return !s.name.empty();
    if (s.kind != elf::kFunction) return variables_.contains(s.name);
    return s.section < file_.sections.size() && s.value == 0 &&
           file_.sections[s.section].name == ".text." + s.name && (s.other & kEntry) == 0;
  }

  void add_variable_half(Kernel& k, const Instruction& i, const elf::Reloc& r) const {
    const auto in_place = static_cast<int64_t>(i.operand(Role::b)->field.get(i.word));
    const std::string& name = file_.symbols[r.symbol].name;
    if (!has_address(file_.symbols[r.symbol]))
      return complain(k, fmt::format("the address of '{}' at {:#x} is not that of a variable or of "
                                     "a function with a section of its own",
                                     name, r.offset));
    k.relocations.push_back({i.pc, name, r.addend + in_place, r.type == kAbs32High});
  }

  uint64_t size_;
  elf::File file_;
  Listing& listing_;
  size_t max_errors_;
  std::map<uint32_t, uint32_t> stack_;                              ///< symbol -> bytes
  std::map<size_t, std::vector<uint32_t>> functions_;               ///< section -> symbols
  std::map<size_t, std::vector<const elf::Section*>> relocations_;  ///< section of code -> tables
  std::map<size_t, std::vector<elf::LineRow>> lines_;               ///< section of code -> rows
  std::map<const elf::Symbol*, uint64_t> shared_places_;            ///< of file_.symbols
  std::set<std::string, std::less<>> entries_;                      ///< names of kernels
  /// Section and first byte of a variable: its index in listing_.globals.
  std::map<std::pair<size_t, uint64_t>, size_t> variable_at_;
  std::set<std::string, std::less<>> variables_;  ///< names in listing_.globals
  std::optional<ConstantBank> module_bank_;
};

}  // namespace

Listing read_cubin(Bytes bytes, size_t max_errors, bool is_part) {
  Listing listing;
  try {
    CubinReader(bytes, listing, max_errors).run(is_part);
  } catch (const ElfError& e) {
    listing.diagnostics.push_back({0, 0, std::string("broken cubin: ") + e.what(), false});
  }
  return listing;
}

}  // namespace lanewise::sass
