#pragma once
// The files of a run: each that is written has a name of its own and a folder, which is looked at before anything runs.
#include <string>
#include <vector>

namespace tilevp::command {

struct NamedFile {
  std::string option;  // "--report"
  std::string name;
};

// Throws UserError where a written file has no name, has no folder that can be written, or is one with another written
// or read file. Devices and pipes may be shared.
void check_files(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read);

// Throws UserError where one of the others' names is `owner`'s with a dot and more behind it: it writes some such.
void check_reserved(const NamedFile& owner, const std::vector<NamedFile>& others);

}  // namespace tilevp::command
