#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/vcd_reader.hpp"
#include "tilevp/platform/waves/gtkw.hpp"
#include "tilevp/platform/waves/vcd_writer.hpp"

namespace tilevp::platform {
namespace {

TEST(Gtkw, GroupsByModuleInTheRadixOfTheKind) {
  const std::vector<VcdSignal> signals{{"top.pe.busy", 1, SignalKind::flag},
                                       {"top.pe.count", 32, SignalKind::count},
                                       {"top.dma.state", 4, SignalKind::code},
                                       {"alone", 2, SignalKind::flag}};
  EXPECT_EQ(gtkw_view("/some/where/run.vcd", signals),
            "[*] TileVP\n[dumpfile] \"run.vcd\"\n[timestart] 0\n"
            "@800200\n-top.pe\n@28\ntop.pe.busy\n@24\ntop.pe.count[31:0]\n@1000200\n-top.pe\n"
            "@800200\n-top.dma\n@22\ntop.dma.state[3:0]\n@1000200\n-top.dma\n"
            "@28\nalone[1:0]\n");
}

TEST(Gtkw, EveryNameStandsInTheVcd) {
  const std::string file = testing::TempDir() + "tilevp_gtkw_" + std::to_string(getpid()) + ".vcd";
  VcdWriter vcd(file);
  vcd.declare("core0.psum.bank[7].full", 1, SignalKind::flag);
  vcd.declare("core0.psum.bank[7].bytes", 20, SignalKind::count);
  vcd.declare("core0.pe.opcode", 8, SignalKind::code);
  vcd.close(1);
  const std::string view = write_gtkw(file, vcd.signals());
  EXPECT_EQ(view, file.substr(0, file.size() - 4) + ".gtkw");
  const auto waves = test::VcdFile::read(file);
  std::ifstream stream(view);
  std::size_t names = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '[' || line[0] == '@' || line[0] == '-') continue;
    EXPECT_TRUE(waves.has(line.substr(0, line.find('[')))) << line;
    ++names;
  }
  EXPECT_EQ(names, 3U);
  std::filesystem::remove(file);
  std::filesystem::remove(view);
}

}  // namespace
}  // namespace tilevp::platform
