#pragma once
// "Did you mean": the known name nearest to what the user wrote. Used for keys, programs, platforms, probes and globs.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilevp::described {

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// As edit_distance, but `*` in the pattern stands for any text and `?` for any character, at no cost.
std::size_t glob_distance(std::string_view pattern, std::string_view text);

// The candidate with the fewest edits, the first one of equals; empty without candidates. Case costs no edit.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

// Up to `count` candidates nearest to a glob, nearest first; equals in the order given.
std::vector<std::string> nearest_to_glob(std::string_view pattern, std::span<const std::string> candidates,
                                         std::size_t count);

// The tail of an error line: "; nearest is 'latency_ns'", with `prefix` before the name ("dma."); "; nothing is known
// here" without candidates. Nothing where no candidate is near: within 3 edits or a third of the name's length, and
// not all of it, or the name as a part.
std::string nearest_hint(std::string_view name, std::span<const std::string> candidates, std::string_view prefix = "");

// "a, b, c".
std::string join(std::span<const std::string> names);

}  // namespace tilevp::described
