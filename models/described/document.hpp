#pragma once
// A description as the user gives it: a file, and overrides on top. Errors name the line of the file or the override a
// wrong value came from: `trn1.json:12: dram.rate: expected a number, found "fast"`, `-c dram.latncy_ns: unknown key;
// nearest is 'latency_ns'`.
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/described/overrides.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/described/reader.hpp"
#include "tilevp/described/writer.hpp"

namespace tilevp::described {

class Document {
 public:
  // Comments are allowed, so that a description can cite the source of a figure. UserError where the file cannot be
  // read, is longer than 64 MiB or is no JSON.
  static Document from_file(const std::string& file);
  static Document from_text(const std::string& name, std::string_view text);
  // No file: every value is the struct's default.
  Document() : Document("", "", {boost::json::object(), {}}) {}

  // Adds `PATH=VALUE`. The path may name what only the defaults hold, an element of a default list say. The last one
  // wins.
  void override_with(std::string_view assignment) { overrides_.push_back(parse_override(assignment)); }

  // Reads a T: its defaults, then the file, then the overrides, then the checks of its structs (see check_all).
  template <class T>
  T read() {
    T from_file{};
    located([&] { described::read(from_file, parsed_.tree, ""); }, false);
    if (overrides_.empty()) {
      located([&] { check_all(from_file, ""); }, false);
      return from_file;
    }
    auto tree = to_json(from_file);
    for (auto& override_ : overrides_) apply(override_, tree);
    T result{};
    located(
        [&] {
          described::read(result, tree, "");
          check_all(result, "");
        },
        true);
    return result;
  }

  // Runs a check that needs to know more than the structs do: its KeyErrors are told as those of read().
  template <class Work>
  void check(Work&& work) const {
    located(std::forward<Work>(work), !overrides_.empty());
  }

  // The file as it was read, without overrides.
  const boost::json::value& tree() const { return parsed_.tree; }
  const std::string& name() const { return name_; }
  // What was read, byte by byte: a pipe can be read only once.
  const std::string& text() const { return text_; }
  const std::vector<Override>& overrides() const { return overrides_; }

 private:
  Document(std::string name, std::string text, Parsed parsed)
      : name_(std::move(name)), text_(std::move(text)), parsed_(std::move(parsed)) {}

  template <class Work>
  void located(Work&& work, bool overridden) const {
    try {
      work();
    } catch (const KeyError& error) {
      throw UserError(place(error.path(), overridden), error.problem());
    }
  }

  // "-c PATH" where an override set the value at `path`, else "file:line: path".
  std::string place(const std::string& path, bool overridden) const;

  std::string name_;
  std::string text_;
  Parsed parsed_;
  std::vector<Override> overrides_;
};

}  // namespace tilevp::described
