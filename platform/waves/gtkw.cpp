#include "tilevp/platform/waves/gtkw.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

#include "tilevp/base/atomic_file.hpp"
#include "tilevp/platform/waves/natural_order.hpp"
#include "tilevp/platform/waves/selector.hpp"

namespace tilevp::platform {

namespace {

// Flags of a GTKWave save file (gtkwave, analyzer.h, TR_*): a hexadecimal number, right-justified values throughout.
constexpr const char* binary_trace = "@28\n";
constexpr const char* decimal_trace = "@24\n";
constexpr const char* hexadecimal_trace = "@22\n";
constexpr const char* translated_trace = "@2022\n";  // hexadecimal, looked up in a table (TR_FTRANSLATED)
constexpr const char* group_begin = "@800200\n";
constexpr const char* group_end = "@1000200\n";
constexpr const char* closed_group_begin = "@c00200\n";  // TR_CLOSED as well
constexpr const char* closed_group_end = "@1401200\n";   // TR_CLOSED and TR_COLLAPSED

// The window the zoom is made for: of 1280 pixels about 950 show waves.
constexpr const char* window = "[size] 1280 720\n[pos] -1 -1\n[sst_expanded] 0\n[signals_width] 260\n";
constexpr double window_frames = 4.5;  // GTKWave's zoom is -log2 of the time that 200 pixels show

struct Section {
  const char* title;
  bool closed;
  std::vector<const char*> patterns;  // in the order shown
};

// A signal belongs to the first section that has a pattern for it; those of no section follow by their modules. Signals
// of activity sections give the time shown.
constexpr std::size_t activity_sections = 2;
const std::array<Section, 7> sections{{
    {"engines",
     false,
     {"*.pe.busy", "*.pe.waiting", "*.vector.busy", "*.vector.waiting", "*.scalar.busy", "*.scalar.waiting",
      "*.gpsimd.busy", "*.gpsimd.waiting", "*.sync.busy", "*.sync.waiting"}},
    {"dma", false, {"dma*.busy", "*.dma*.busy"}},
    {"hbm", false, {"hbm*.busy", "*.hbm*.busy"}},
    {"psum", false, {"*psum*.busy"}},
    {"instructions", true, {"*.opcode", "*.instruction"}},
    {"queues", true, {"*.queue*"}},
    {"semaphores", true, {"*.semaphore*"}},
}};

struct Row {
  const VcdSignal* signal;
  std::size_t section;
  std::size_t pattern;
  std::string group;  // its title
};

// The module of a signal, at most two levels deep: "aie0.tile_1_2" of "aie0.tile_1_2.core.busy".
std::string module_of(const std::string& name) {
  const auto first = name.find('.');
  if (first == std::string::npos) return name;
  const auto second = name.find('.', first + 1);
  return name.substr(0, second == std::string::npos ? first : second);
}

Row row_of(const VcdSignal& signal) {
  for (std::size_t section = 0; section < sections.size(); ++section) {
    const auto& patterns = sections[section].patterns;
    const auto found = std::ranges::find_if(patterns, [&](auto pattern) { return glob_match(pattern, signal.name); });
    if (found == patterns.end()) continue;
    return {&signal, section, static_cast<std::size_t>(found - patterns.begin()), sections[section].title};
  }
  return {&signal, sections.size(), 0, module_of(signal.name)};
}

std::string_view first_part(const Row& row) {
  const std::string_view name = row.signal->name;
  return name.substr(0, name.find('.'));
}

// By section or module; within it by the first part of the name (a core), then as the patterns say, then by name.
bool before(const Row& a, const Row& b) {
  if (a.section != b.section) return a.section < b.section;
  if (a.group != b.group) return natural_less(a.group, b.group);
  if (first_part(a) != first_part(b)) return natural_less(first_part(a), first_part(b));
  if (a.pattern != b.pattern) return a.pattern < b.pattern;
  return natural_less(a.signal->name, b.signal->name);
}

std::vector<Row> rows_of(std::span<const VcdSignal> signals, GtkwContents contents) {
  std::vector<Row> rows;
  for (const auto& signal : signals)
    if (contents == GtkwContents::every_signal || signal.changes) rows.push_back(row_of(signal));
  std::ranges::stable_sort(rows, before);
  return rows;
}

bool shows_activity(const Row& row) { return row.section < activity_sections && row.signal->kind == SignalKind::flag; }

std::optional<VcdChanges> changes_of(std::span<const Row> rows, bool activity_only) {
  std::optional<VcdChanges> all;
  for (const auto& row : rows) {
    const auto& changes = row.signal->changes;
    if (!changes || (activity_only && !shows_activity(row))) continue;
    if (!all) all = changes;
    all = {std::min(all->first_ps, changes->first_ps), std::max(all->last_ps, changes->last_ps)};
  }
  return all;
}

// The time shown, with a margin of a fortieth to both sides, and the marker where the activity begins.
std::string time_shown(std::span<const Row> rows) {
  auto activity = changes_of(rows, true);
  if (!activity) activity = changes_of(rows, false);
  if (!activity) return "[timestart] 0\n";
  const std::uint64_t span = std::max<std::uint64_t>(activity->last_ps - activity->first_ps, 1);
  const std::uint64_t margin = span / 40;
  const double zoom = -std::log2(static_cast<double>(span + 2 * margin) / window_frames);
  return "[timestart] " + std::to_string(activity->first_ps - std::min(margin, activity->first_ps)) + "\n*" +
         std::to_string(zoom) + ' ' + std::to_string(activity->first_ps) + '\n';
}

const char* radix(SignalKind kind) {
  switch (kind) {
    case SignalKind::count:
      return decimal_trace;
    case SignalKind::code:
      return hexadecimal_trace;
    default:
      return binary_trace;
  }
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string table_text(const VcdSignal& signal) {
  std::string text;
  for (const auto& [value, name] : signal.names) {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "%0*" PRIx64, static_cast<int>((signal.bits + 3) / 4), value);
    text += std::string(digits.data()) + ' ' + name + '\n';
  }
  return text;
}

// With an alias: of a name with dots GTKWave shows the last part only.
std::string trace_of(const VcdSignal& signal, std::span<const GtkwTable> tables) {
  std::string alias = signal.name;
  std::ranges::replace(alias, '.', ' ');
  std::string out = radix(signal.kind);
  if (!signal.names.empty()) {
    const auto table = std::ranges::find(tables, table_text(signal), &GtkwTable::text);
    out = translated_trace + ("^1 " + file_name(table->file)) + '\n';
  }
  out += "+{" + alias + "} " + signal.name;
  if (signal.bits > 1) out += "[" + std::to_string(signal.bits - 1) + ":0]";
  return out + '\n';
}

}  // namespace

std::vector<GtkwTable> gtkw_tables(const std::string& vcd_file, std::span<const VcdSignal> signals) {
  std::vector<GtkwTable> tables;
  for (const auto& signal : signals) {
    if (signal.names.empty()) continue;
    auto text = table_text(signal);
    if (std::ranges::find(tables, text, &GtkwTable::text) != tables.end()) continue;
    const std::string stem = gtkw_file_of(vcd_file) + "." + signal.name.substr(signal.name.rfind('.') + 1);
    std::string file = stem;
    for (unsigned n = 2; std::ranges::find(tables, file, &GtkwTable::file) != tables.end(); ++n)
      file = stem + std::to_string(n);
    tables.push_back({std::move(file), std::move(text)});
  }
  return tables;
}

std::string gtkw_view(const std::string& vcd_file, std::span<const VcdSignal> signals, GtkwContents contents) {
  const auto rows = rows_of(signals, contents);
  const auto tables = gtkw_tables(vcd_file, signals);
  std::string out = "[*] TileVP\n[dumpfile] \"" + file_name(vcd_file) + "\"\n[savefile] \"" +
                    file_name(gtkw_file_of(vcd_file)) + "\"\n" + window + time_shown(rows);
  for (auto row = rows.begin(); row != rows.end();) {
    const bool closed = row->section >= sections.size() || sections[row->section].closed;
    const std::string title = row->group;
    out += (closed ? closed_group_begin : group_begin) + ("-" + title) + '\n';
    for (; row != rows.end() && row->group == title; ++row) out += trace_of(*row->signal, tables);
    out += (closed ? closed_group_end : group_end) + ("-" + title) + '\n';
  }
  return out;
}

std::string gtkw_file_of(const std::string& vcd_file) {
  return std::filesystem::path(vcd_file).replace_extension(".gtkw").string();
}

void write_gtkw(const std::string& vcd_file, std::span<const VcdSignal> signals, GtkwContents contents) {
  const auto write = [](const std::string& name, const std::string& text) {
    AtomicFile file(name);
    file.write(text);
    file.commit();
  };
  for (const auto& table : gtkw_tables(vcd_file, signals)) write(table.file, table.text);
  write(gtkw_file_of(vcd_file), gtkw_view(vcd_file, signals, contents));
}

}  // namespace tilevp::platform
