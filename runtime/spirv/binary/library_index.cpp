#include "runtime/spirv/binary/library_index.hpp"
#include "runtime/spirv/binary/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <spirv/unified1/spirv.hpp>

#include "runtime/spirv/binary/code.hpp"
#include "runtime/support/error.hpp"
#include "shaders/library_words.hpp"

namespace lanewise::spirv::library {
namespace {

std::span<const uint32_t> words_of(Variant variant) {
  switch (variant) {
    case Variant::t0:
      return shaders::library_t0();
    case Variant::t1:
      return shaders::library_t1();
    case Variant::t1a:
      return shaders::library_t1a();
    case Variant::t1f:
      return shaders::library_t1f();
    case Variant::t2:
      return shaders::library_t2();
  }
  return shaders::library_t0();
}

/// Where the result id of a type, constant or variable stands, 0 when there is none.
uint32_t result_of_global(std::span<const uint32_t> inst) {
  const auto op = static_cast<spv::Op>(inst[0] & 0xffff);
  if (op == spv::OpTypeForwardPointer) return 0;
  const bool is_type = op >= spv::OpTypeVoid && op <= spv::OpTypePipe;
  return inst[is_type ? 1 : 2];
}

/// Which words of an instruction may be ids of globals.
struct IdWords {
  uint32_t first = 1, last = UINT32_MAX - 1, except = 0;
};
IdWords id_words(spv::Op op) {
  switch (op) {
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
      return {1, 0};
    case spv::OpTypeVector:
      return {2, 2};
    case spv::OpTypePointer:
      return {3, 3};
    case spv::OpConstant:
    case spv::OpSpecConstant:
    case spv::OpVariable:
      return {1, 1};
    case spv::OpSpecConstantOp:
      return {1, UINT32_MAX - 1, 3};
    case spv::OpFunction:
      return {1, 4, 3};
    case spv::OpLoad:
    case spv::OpCompositeExtract:
      return {1, 3};
    case spv::OpStore:
      return {1, 2};
    case spv::OpExtInst:
      return {1, UINT32_MAX - 1, 4};
    default:
      return {};
  }
}

}  // namespace

const Index& Index::of(Variant variant) {
  static std::array<std::unique_ptr<Index>, std::size(kVariants)> indices;
  static std::array<std::once_flag, std::size(kVariants)> once;
  const auto i = static_cast<size_t>(variant);
  std::call_once(once[i], [&] { indices[i] = std::make_unique<Index>(words_of(variant)); });
  return *indices[i];
}

Index::Index(std::span<const uint32_t> words) : words_(words) {
  scan();
  read_signatures();
}

void Index::scan() {
  size_t at = kHeaderWords;
  while (at < words_.size()) {
    const size_t end = at + (words_[at] >> 16);
    const auto op = static_cast<spv::Op>(words_[at] & 0xffff);
    switch (op) {
      case spv::OpCapability:
      case spv::OpExtension:
      case spv::OpExtInstImport:
      case spv::OpMemoryModel:
        preamble_.push_back({at, end});
        break;
      case spv::OpDecorate:
        if (words_[at + 2] == spv::DecorationLinkageAttributes)
          exports_[reinterpret_cast<const char*>(&words_[at + 3])] = words_[at + 1];
        decorations_.push_back({at, end});
        break;
      case spv::OpMemberDecorate:
        decorations_.push_back({at, end});
        break;
      case spv::OpFunction: {
        size_t last = at;
        while ((words_[last] & 0xffff) != spv::OpFunctionEnd) last += words_[last] >> 16;
        function_of_id_[words_[at + 2]] = static_cast<uint32_t>(functions_.size());
        functions_.push_back({{at, last + 1}, {}});
        at = last + 1;
        continue;
      }
      default:
        if (const uint32_t id = result_of_global(words_.subspan(at, end - at)))
          global_of_id_[id] = static_cast<uint32_t>(globals_.size());
        globals_.push_back({at, end});
        break;
    }
    at = end;
  }
  for (Function& f : functions_) {
    for (size_t i = f.range.begin; i < f.range.end; i += words_[i] >> 16)
      if ((words_[i] & 0xffff) == spv::OpFunctionCall)
        f.callees.push_back(function_of_id_.at(words_[i + 3]));
  }
}

Kind Index::kind_of(uint32_t type_id) const {
  const uint32_t* inst = &words_[globals_[global_of_id_.at(type_id)].begin];
  switch (inst[0] & 0xffff) {
    case spv::OpTypeBool:
      return Kind::pred;
    case spv::OpTypeInt:
      return inst[2] == 64 ? Kind::b64 : Kind::u32;
    case spv::OpTypeVector:
      return inst[3] == 2 ? Kind::vec2 : inst[3] == 3 ? Kind::vec3 : Kind::vec4;
    default:
      return Kind::none;
  }
}

void Index::read_signatures() {
  for (const auto& [function_name, id] : exports_) {
    const uint32_t* function = &words_[functions_[function_of_id_.at(id)].range.begin];
    const uint32_t* type = &words_[globals_[global_of_id_.at(function[4])].begin];
    Signature s{function_name, kind_of(type[2]), {}};
    for (uint32_t i = 3; i < type[0] >> 16; ++i) s.params.push_back(kind_of(type[i]));
    signatures_.push_back(std::move(s));
  }
}

std::vector<bool> Index::reached_functions(const std::vector<std::string>& names) const {
  std::vector<bool> reached(functions_.size(), false);
  std::vector<uint32_t> work;
  const auto reach = [&](uint32_t f) {
    if (!reached[f]) work.push_back(f);
    reached[f] = true;
  };
  for (const std::string& wanted : names) {
    const auto found = exports_.find(wanted);
    if (found == exports_.end())
      throw Error(ErrorKind::guest, fmt::format("the shader library has no function '{}'", wanted));
    reach(function_of_id_.at(found->second));
  }
  while (!work.empty()) {
    const uint32_t f = work.back();
    work.pop_back();
    for (const uint32_t callee : functions_[f].callees) reach(callee);
  }
  return reached;
}

/// Any word that equals the id of a global counts as a use of it, except where literals are sure to
/// stand. Another literal may do so by chance; then one global too many is kept, which is harmless.
std::vector<bool> Index::used_globals(const std::vector<bool>& reached) const {
  std::vector<bool> used(globals_.size(), false);
  std::vector<uint32_t> work;
  const auto use = [&](uint32_t id) {
    const auto found = global_of_id_.find(id);
    if (found == global_of_id_.end() || used[found->second]) return;
    used[found->second] = true;
    work.push_back(found->second);
  };
  const auto use_words = [&](Range r) {
    for (size_t at = r.begin; at < r.end; at += words_[at] >> 16) {
      const uint32_t count = words_[at] >> 16;
      const IdWords ids = id_words(static_cast<spv::Op>(words_[at] & 0xffff));
      for (uint32_t i = ids.first; i < std::min(count, ids.last + 1); ++i)
        if (i != ids.except) use(words_[at + i]);
    }
  };
  for (size_t f = 0; f < functions_.size(); ++f)
    if (reached[f]) use_words(functions_[f].range);
  while (!work.empty()) {
    const uint32_t g = work.back();
    work.pop_back();
    use_words(globals_[g]);
  }
  return used;
}

std::vector<uint32_t> Index::subset(const std::vector<std::string>& names) const {
  const std::vector<bool> reached = reached_functions(names);
  const std::vector<bool> used = used_globals(reached);
  const auto kept = [&](uint32_t id) {
    if (const auto g = global_of_id_.find(id); g != global_of_id_.end())
      return bool{used[g->second]};
    const auto f = function_of_id_.find(id);
    return f == function_of_id_.end() || reached[f->second];
  };
  std::vector<uint32_t> out(words_.begin(), words_.begin() + kHeaderWords);
  const auto copy = [&](Range r) {
    out.insert(out.end(), words_.begin() + static_cast<ptrdiff_t>(r.begin),
               words_.begin() + static_cast<ptrdiff_t>(r.end));
  };
  for (const Range r : preamble_) copy(r);
  // Decorations of ids inside functions that are dropped must go too: they name no instruction.
  std::vector<bool> inner(words_[3], false);
  for (size_t f = 0; f < functions_.size(); ++f)
    for (size_t i = functions_[f].range.begin; reached[f] && i < functions_[f].range.end;
         i += words_[i] >> 16)
      for (size_t k = 1; k < 3 && k < words_[i] >> 16; ++k)
        if (words_[i + k] < inner.size()) inner[words_[i + k]] = true;
  for (const Range r : decorations_) {
    const uint32_t target = words_[r.begin + 1];
    const bool outer = global_of_id_.count(target) != 0 || function_of_id_.count(target) != 0;
    if (outer ? kept(target) : bool{inner[target]}) copy(r);
  }
  for (size_t g = 0; g < globals_.size(); ++g) {
    const bool forward = (words_[globals_[g].begin] & 0xffff) == spv::OpTypeForwardPointer;
    if (forward ? kept(words_[globals_[g].begin + 1]) : bool{used[g]}) copy(globals_[g]);
  }
  for (size_t f = 0; f < functions_.size(); ++f)
    if (reached[f]) copy(functions_[f].range);
  return out;
}

}  // namespace lanewise::spirv::library
