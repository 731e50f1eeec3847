#include "tests/hardware/kit/results.hpp"

#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace lanewise::kit {

Results::Results(const std::string& folder) : path_(folder + "/results.jsonl") {
  std::filesystem::create_directories(folder);
  std::ifstream state(folder + "/state");
  for (std::string line; std::getline(state, line);) {
    std::istringstream words(line);
    std::string word, stage;
    words >> word;
    std::getline(words >> std::ws, stage);
    if (word == "begin") ++begun_[stage];
    if (word == "later" && begun_[stage] > 0) --begun_[stage];
    if (word == "done") done_[stage] = true;
  }
  // A line that was cut when the last run was killed must not swallow the next one.
  bool whole = true;
  if (std::ifstream before(path_, std::ios::binary | std::ios::ate); before && before.tellg() > 0) {
    bytes_ = static_cast<uint64_t>(before.tellg());
    before.seekg(-1, std::ios::end);
    whole = before.get() == '\n';
  }
  rows_.open(path_, std::ios::app);
  state_.open(folder + "/state", std::ios::app);
  if (!rows_ || !state_) throw std::runtime_error("cannot write into '" + folder + "'");
  if (!whole) rows_ << '\n';
}

void Results::add(const Json& row, bool needed) {
  const std::string line = row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (!needed && bytes_ + line.size() > kMostBytes) {
    ++left_out_;
    return;
  }
  bytes_ += line.size();
  rows_ << line << std::flush;
}

unsigned Results::interrupted(const std::string& stage) const {
  const auto it = begun_.find(stage);
  return it == begun_.end() || done(stage) ? 0 : it->second;
}
void Results::begin(const std::string& stage) {
  ++begun_[stage];
  state_line("begin", stage);
}
void Results::end(const std::string& stage) {
  done_[stage] = true;
  state_line("done", stage);
}
void Results::postpone(const std::string& stage) {
  --begun_[stage];
  state_line("later", stage);
}
void Results::state_line(const std::string& word, const std::string& stage) {
  state_ << word << ' ' << stage << '\n' << std::flush;
}

std::vector<Json> read_rows(const std::string& path) {
  const bool folder = std::filesystem::is_directory(path);
  std::ifstream in(folder ? path + "/results.jsonl" : path);
  if (!in) throw std::runtime_error("cannot read '" + path + "'");
  std::vector<Json> rows;
  for (std::string line; std::getline(in, line);) {
    Json row = Json::parse(line, nullptr, false);
    if (row.is_object() && row.contains("kind") && row.contains("name")) rows.push_back(row);
  }
  return rows;
}

}  // namespace lanewise::kit
