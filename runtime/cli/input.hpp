// Files that commands read and write, of which - is the standard stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lanewise/lanewise.hpp"

namespace lanewise::cli {

/// A file, or all of standard input for "-". Error(usage) for what cannot be read.
std::string read_input(const std::string& path);
/// What messages call it.
std::string input_name(const std::string& path);
/// Where files that it includes lie; empty for standard input.
std::string include_folder(const std::string& path);
/// A program on a device; of several files, what a linker makes of them.
Module load_input(Device& device, const std::vector<std::string>& paths, Isa isa,
                  const std::string& target = {});

/// To a file, or to standard output for "-" and for no name.
void write_output(const std::string& path, std::string_view data);

}  // namespace lanewise::cli
