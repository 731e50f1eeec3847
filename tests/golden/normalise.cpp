#include "tests/golden/normalise.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace lanewise::golden {
namespace {

struct Line {
  std::string result;  ///< "%12", empty when it has none
  std::string op;      ///< "OpIAdd"
  std::vector<std::string> operands;
};

struct Function {
  std::string name;
  std::vector<Line> lines;  ///< without the OpFunctionEnd
};

Line parse(const std::string& text) {
  std::istringstream in(text);
  Line line;
  std::string word;
  in >> word;
  if (word.starts_with("%")) {
    line.result = word;
    in >> word >> word;  // "=", the operation
  }
  line.op = word;
  while (in >> word) line.operands.push_back(word);
  return line;
}

/// Given by the translator, or by the disassembler after what it means (%uint_4, %void).
bool is_numbered(const std::string& id) {
  return id.size() > 1 && id[0] == '%' &&
         std::all_of(id.begin() + 1, id.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

using Names = std::map<std::string, std::string>;

std::string renamed(const std::string& word, const Names& names) {
  const auto it = names.find(word);
  return it == names.end() ? word : it->second;
}

std::string text_of(const Line& line, const Names& names) {
  std::string text = line.result.empty() ? "" : renamed(line.result, names) + " = ";
  text += line.op;
  for (const std::string& operand : line.operands) text += " " + renamed(operand, names);
  return text + "\n";
}

/// Blocks are counted through the function, values of one operation through their block.
void name_values(const Function& f, Names& names) {
  size_t block = 0;
  std::map<std::string, size_t> counts;
  for (const Line& line : f.lines) {
    if (line.op == "OpLabel") {
      names[line.result] = "%b" + std::to_string(block++);
      counts.clear();
    } else if (is_numbered(line.result)) {
      const std::string op = line.op.substr(2);
      names[line.result] = "%b" + std::to_string(block == 0 ? 0 : block - 1) + "." + op + "." +
                           std::to_string(counts[op]++);
    }
  }
}

class Module {
 public:
  explicit Module(const std::string& text) {
    std::istringstream in(text);
    bool inside = false;
    for (std::string row; std::getline(in, row);) {
      if (row.empty() || row[0] == ';') continue;
      Line line = parse(row);
      if (line.op == "OpFunction") {
        functions_.push_back({line.result, {}});
        inside = true;
      }
      if (line.op == "OpFunctionEnd")
        inside = false;
      else if (inside)
        functions_.back().lines.push_back(std::move(line));
      else
        globals_.push_back(std::move(line));
    }
  }

  std::string text() const {
    Names names;
    name_globals(names);
    std::string out = head(names);
    for (const Function& f : functions_) {
      if (is_library(f)) continue;
      name_values(f, names);
      out += "\n";
      for (const Line& line : f.lines) out += text_of(line, names);
    }
    return out + library();
  }

 private:
  static bool is_library(const Function& f) { return is_numbered(f.name); }

  const Function* find(const std::string& name) const {
    for (const Function& f : functions_)
      if (f.name == name) return &f;
    return nullptr;
  }

  size_t cost(const Function& f) const {
    size_t n = f.lines.size();
    for (const Line& line : f.lines)
      if (line.op == "OpFunctionCall")
        if (const Function* callee = find(line.operands[1])) n += cost(*callee);
    return n;
  }

  void name_globals(Names& names) const {
    std::map<std::string, size_t> counts;
    for (const Line& line : globals_)
      if (is_numbered(line.result)) {
        const std::string op = line.op.substr(2);
        // Function types are named by the functions themselves.
        names[line.result] =
            op == "TypeFunction" ? "%type" : "%" + op + "." + std::to_string(counts[op]++);
      }
    for (const Function& f : functions_)
      if (is_library(f)) names[f.name] = "%library_" + std::to_string(cost(f));
  }

  std::string head(const Names& names) const {
    static const std::set<std::string> kShown{"OpCapability", "OpExtension", "OpMemoryModel",
                                              "OpEntryPoint", "OpExecutionMode"};
    std::string out;
    for (const Line& line : globals_)
      if (kShown.contains(line.op)) out += text_of(line, names);
    for (const Line& line : globals_)
      if (line.op == "OpVariable") out += text_of(line, names);
    return out;
  }

  std::string library() const {
    std::vector<size_t> costs;
    size_t all = 0;
    for (const Function& f : functions_) {
      if (!is_library(f)) continue;
      costs.push_back(cost(f));
      all += f.lines.size();
    }
    std::ranges::sort(costs);
    std::string out = "\n; library: " + std::to_string(costs.size()) + " functions, " +
                      std::to_string(all) + " instructions; with what they call:";
    for (const size_t n : costs) out += " " + std::to_string(n);
    return out + "\n";
  }

  std::vector<Line> globals_;
  std::vector<Function> functions_;
};

}  // namespace

std::string normalise(const std::string& disassembly) {
  return Module(disassembly).text();
}

}  // namespace lanewise::golden
