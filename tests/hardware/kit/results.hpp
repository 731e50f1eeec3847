// The one file of results: a JSON object on each line, written as results come, and the file that
// says which stages are done.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lanewise::kit {

using Json = nlohmann::ordered_json;

inline constexpr uint64_t kMostBytes = uint64_t{15} << 20;

/// Every row has "kind" and "name". Kinds: "run" (machine, kit, date), "stage" (how one ended),
/// "figure" (a measured number), "truth" (a row of a table), "script" (a shrunk failing case),
/// "fact"; stages add "stage", the name of the one that the row comes from.
class Results {
 public:
  /// Goes on with what is in `folder` already.
  explicit Results(const std::string& folder);
  /// Rows beyond the size that a result file may have are counted instead; `needed` ones go in.
  void add(const Json& row, bool needed = false);
  uint64_t left_out() const { return left_out_; }

  bool done(const std::string& stage) const { return done_.contains(stage); }
  /// How often it was begun and not ended.
  unsigned interrupted(const std::string& stage) const;
  void begin(const std::string& stage);
  void end(const std::string& stage);
  /// Its time was cut short: it is run again, and this one does not count.
  void postpone(const std::string& stage);
  const std::string& path() const { return path_; }

 private:
  void state_line(const std::string& word, const std::string& stage);
  std::string path_;
  std::ofstream rows_, state_;
  uint64_t bytes_ = 0, left_out_ = 0;
  std::map<std::string, unsigned> begun_;
  std::map<std::string, bool> done_;
};

/// The rows of a file. Throws for a file that cannot be read; a last line that was cut is left out.
std::vector<Json> read_rows(const std::string& path);

/// What a person wants to know of the rows.
std::string summary(const std::vector<Json>& rows);

/// The card's results of exact forms and of sums of matrix units, as files under tests/truth/ have
/// them.
std::string truth_table(const std::vector<Json>& rows);

/// What the pointer chase recovered, as a preset file that extends the card's preset, each figure
/// with its source. Throws where there is no such row.
std::string preset_file(const std::vector<Json>& rows);

/// Later rows of a stage take the place of earlier ones; by kind and name.
std::map<std::string, Json> by_name(const std::vector<Json>& rows);
/// A field as text; empty without it.
std::string text_of(const Json& row, const char* key);

struct Comparison {
  std::string text;
  unsigned differences = 0;
};
/// Rows by kind and name: stages whose state differs, truth rows that differ in anything, figures
/// that lie more than `tolerance` apart (a share), rows that only one of them has.
Comparison compare(const std::vector<Json>& before, const std::vector<Json>& after,
                   double tolerance);

}  // namespace lanewise::kit
