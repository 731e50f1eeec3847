// NumPy's .npz: a ZIP archive of .npy files, as np.savez writes it.
#pragma once

#include <string>
#include <string_view>

namespace lanewise::npy {

/// "a.npz:NAME", and "a.npz" for an archive of one array.
struct ArchivePath {
  std::string file, name;
};
/// An empty file where the path is no archive's.
ArchivePath archive_path(const std::string& path);

/// The .npy bytes of one array, of the only one where `name` is empty; views the archive.
/// Error(usage) names the file and says what is wrong with it, or which arrays there are.
std::string_view array_in(std::string_view archive, const ArchivePath& path);

}  // namespace lanewise::npy
