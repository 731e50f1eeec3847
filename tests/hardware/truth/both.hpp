// The same kernel on the card, through NVIDIA's driver, and through Lanewise.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"
#include "tests/hardware/truth/driver.hpp"

namespace lanewise::truth {

using Words = std::vector<uint32_t>;
inline constexpr unsigned kWarp = 32;  ///< lanes
inline constexpr size_t kSamples = 6;  ///< of the card's results that a row of a table has
inline constexpr uint32_t kPoison = 0xdeadbeef;  ///< what results hold before
inline constexpr unsigned kMostFaults =
    8;  ///< of a table: more of them, and it is the card that is lost

/// Buffers are the first arguments, in order; both sides begin with the same contents.
struct Job {
  std::string text, kernel = "k";
  Shape shape;
  std::vector<Words> buffers;
  std::vector<uint32_t> numbers = {};  ///< further arguments of 32 bits
};

/// Contents of the buffers afterwards. Throws Refused, CudaError.
std::vector<Words> on_card(const Card& card, const Job& job);
/// Throws lanewise::Error.
std::vector<Words> on_ours(Device& device, const Job& job);

/// Whether Lanewise, too, takes the text not.
bool ours_refuses(Device& device, const std::string& text, const std::string& kernel = "k");

/// What stands between the dots of a form.
std::vector<std::string> parts_of(const std::string& form);

/// Eight hexadecimal digits each, spaces between them.
std::string words_text(std::span<const uint32_t> words);

/// Runs what a table file under tests/truth/ says of a card (docs/hardware.md): false where this
/// device gives something else, or the file has a form that no value case knows.
bool check_table(Device& device, const std::string& path);

/// Where a table goes on after a form has faulted on the card: a fault ends the process's context
/// for good, so the program starts itself again.
struct Resume {
  size_t from = 0;      ///< forms that are done
  size_t alone = 0;     ///< so many of the next ones get a kernel each, until one of them faults
  unsigned faults = 0;  ///< forms that have faulted
  bool wrong = false;   ///< a row before differed
};

/// What every table works with.
struct Bench {
  Card card;
  Device ours;
  bool small = false;  ///< a little of each table, for tests of the kit
  Resume resume = {};
  std::string preset = "gh100";  ///< whose caches stand beside the card's
};
/// Does not come back, unless this machine cannot start a program: then it throws.
[[noreturn]] void start_again(const std::string& table, const Resume& resume);

/// One table of the truth program; prints rows. True when Lanewise was nowhere wrong.
struct Table {
  std::string name;
  bool (*run)(Bench& bench, const std::string& name);
};
const std::vector<Table>& tables();

bool value_table(Bench& bench, const std::string& name);
bool memory_table(Bench& bench, const std::string& name);
bool atomic_table(Bench& bench, const std::string& name);
bool wave_table(Bench& bench, const std::string& name);
bool error_table(Bench& bench, const std::string& name);
bool litmus_table(Bench& bench, const std::string& name);
bool latency_table(Bench& bench, const std::string& name);
bool chase_table(Bench& bench, const std::string& name);
bool operator_table(Bench& bench, const std::string& name);
bool speed_table(Bench& bench, const std::string& name);
bool matrix_table(Bench& bench, const std::string& name);
bool texture_table(Bench& bench, const std::string& name);
bool left_out_table(Bench& bench, const std::string& name);

/// Whether one of the tables asks about a form of the instruction table.
bool asks_values(const std::string& form);
bool asks_matrix(const std::string& form);
bool asks_textures(const std::string& form);

}  // namespace lanewise::truth
