#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/describe.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/platform/machine.hpp"
#include "tilevp/platform/sha256.hpp"

namespace tilevp::platform {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& platform, const std::vector<std::string>& overrides) {
  try {
    load_description(platform, overrides);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// A description file of this test's own.
class DescriptionFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  std::string write(const std::string& text) {
    std::ofstream(file_) << text;
    return file_;
  }
  std::string file_ =
      (std::filesystem::temp_directory_path() / ("tilevp-description-" + std::to_string(getpid()) + ".json")).string();
};

// The public architecture guides of the three generations: clocks in MHz, SBUF KiB a partition, HBM GiB a core, GB/s a
// core, bytes/ns a DMA engine.
struct Published {
  const char* name;
  unsigned generation, pe_mhz, vector_mhz, scalar_mhz, sbuf_kib, hbm_gib;
  double hbm_gb_per_s, dma_bytes_per_ns;
};
constexpr Published published[] = {
    {"trn1", 2, 2800, 1120, 1400, 192, 16, 410, 17},
    {"trn2", 3, 2400, 960, 1200, 224, 12, 360, 23},
    {"trn3", 4, 2400, 1200, 1200, 256, 18, 587.5, 33},
};

TEST(Description, ShippedFiguresAreThePublishedOnes) {
  for (const auto& p : published) {
    const auto d = load_description(p.name, {}).description;
    EXPECT_EQ(d.name, p.name);
    EXPECT_EQ(d.core->generation, p.generation) << p.name;
    EXPECT_EQ(d.core->pe.clock_hz, p.pe_mhz * 1'000'000ull) << p.name;
    EXPECT_EQ(d.core->vector.clock_hz, p.vector_mhz * 1'000'000ull) << p.name;
    EXPECT_EQ(d.core->scalar.clock_hz, p.scalar_mhz * 1'000'000ull) << p.name;
    EXPECT_EQ(d.core->sbuf_partition_bytes, p.sbuf_kib * 1024) << p.name;
    EXPECT_EQ(d.hbm.size_bytes, std::uint64_t{p.hbm_gib} << 30) << p.name;
    EXPECT_EQ(d.hbm.bandwidth.contiguous_bits_per_cycle * static_cast<double>(d.hbm.clock_hz), p.hbm_gb_per_s * 8e9)
        << p.name;
    EXPECT_EQ(d.dma->engines, 16u) << p.name;
    EXPECT_EQ(d.dma->bytes_per_ns, p.dma_bytes_per_ns) << p.name;
    EXPECT_EQ(d.dma->start_latency_ns, 1300) << p.name;
    // 128 x 128 multiply-accumulates a cycle: the published peak of 92 or 79 TFLOPS.
    const double tflops = 2.0 * 128 * 128 * static_cast<double>(d.core->pe.clock_hz) * 1e-12;
    EXPECT_NEAR(tflops, p.generation == 2 ? 92 : 79, 0.5) << p.name;
  }
  EXPECT_EQ(shipped_descriptions().size(), std::size(published) + 1);
}

TEST(Description, ExclusionsOfTheFirstGenerationOnly) {
  EXPECT_TRUE(load_description("trn1", {}).description.core->vector_gpsimd_share_sbuf_port);
  EXPECT_FALSE(load_description("trn2", {}).description.core->vector_gpsimd_share_sbuf_port);
  EXPECT_FALSE(load_description("trn3", {}).description.core->vector_scalar_share_psum_port);
}

bool has_source(const Description& d, std::string path) {
  while (true) {
    if (d.sources.contains(path)) return true;
    const auto dot = path.rfind('.');
    if (dot == std::string::npos) return false;
    path.resize(dot);
  }
}

TEST(Description, EveryShippedFigureHasASource) {
  // No figures: text, and choices of form.
  const std::vector<std::string> no_figures{"name", "summary", "not_modelled", "sources"};
  for (const auto& name : shipped_descriptions()) {
    const auto d = load_description(name, {}).description;
    for (const auto& field : described::describe_fields<Description>()) {
      const bool figure =
          field.type.starts_with("integer") || field.type.starts_with("number") || field.type.starts_with("true");
      if (!figure || field.path.find('[') != std::string::npos) continue;
      const bool of_cube = field.path.starts_with("cube.");
      const bool of_neuroncore = field.path.starts_with("core.") || field.path.starts_with("dma.");
      if (d.cube ? of_neuroncore : of_cube) continue;
      EXPECT_TRUE(has_source(d, field.path)) << name << " gives no source for " << field.path;
    }
    EXPECT_FALSE(d.not_modelled.empty());
  }
}

TEST(Description, SaysWhatItDoesNotModel) {
  EXPECT_THAT(description_text(load_description("trn3", {}).description),
              AllOf(HasSubstr("not modelled"), HasSubstr("MX")));
}

TEST(Description, OverridesTheLastWins) {
  const auto loaded = load_description("trn1", {"dma.engines=4", "dma.engines=1", "core.pe.clock_hz=1400000000"});
  EXPECT_EQ(loaded.description.dma->engines, 1u);
  EXPECT_EQ(loaded.description.core->pe.clock_hz, 1'400'000'000u);
  EXPECT_EQ(loaded.description.dma->bytes_per_ns, 17);
  EXPECT_EQ(loaded.overrides.size(), 3u);
  EXPECT_EQ(loaded.sha256, load_description("trn1", {}).sha256);
}

TEST(Description, UnknownKeysNameTheNearest) {
  EXPECT_THAT(error_of("trn1", {"dma.engins=4"}),
              AllOf(HasSubstr("-c dma.engins"), HasSubstr("nearest is 'dma.engines'")));
  EXPECT_THAT(error_of("trn1", {"core.pe.clock_hz=1.4GHz"}),
              HasSubstr("in hertz, for instance 1400000000 or 1.4e9, found \"1.4GHz\""));
  EXPECT_EQ(load_description("trn1", {"core.pe.clock_hz=1.4e9"}).description.core->pe.clock_hz, 1'400'000'000u);
  EXPECT_THAT(error_of("trn9", {}),
              AllOf(HasSubstr("--platform: unknown platform 'trn9'"), HasSubstr("nearest is 'trn1'")));
}

TEST(Description, NumbersOutOfRangeAreRefused) {
  EXPECT_THAT(error_of("trn1", {"dma.bytes_per_ns=-17"}),
              AllOf(HasSubstr("-c dma.bytes_per_ns"), HasSubstr("expected a positive number, found -17")));
  EXPECT_THAT(
      error_of("trn1", {"hbm.bandwidth.contiguous_bits_per_cycle=-1"}),
      AllOf(HasSubstr("hbm.bandwidth.contiguous_bits_per_cycle"), HasSubstr("expected a positive number, found -1")));
  EXPECT_THAT(error_of("trn1", {"core.pe.clock_hz=0"}),
              HasSubstr("core.pe.clock_hz: expected 1000000 to 1000000000000, found 0"));
  // A cycle of 1 s, or latencies of 2^32 cycles, would run beyond 2^64 ps.
  EXPECT_THAT(error_of("trn1", {"hbm.clock_hz=1"}), HasSubstr("-c hbm.clock_hz: expected 1000000 to"));
  EXPECT_THAT(error_of("trn1", {"core.pe.fill_cycles=4294967295"}),
              HasSubstr("expected 0 to 1048576, found 4294967295"));
  EXPECT_THAT(error_of("trn1", {"host.read_latency_ns=1e30"}),
              HasSubstr("-c host.read_latency_ns: expected at most 1000000000, found 1e+30"));
  EXPECT_THAT(error_of("trn1", {"dma.start_latency_ns=1e30"}), HasSubstr("-c dma.start_latency_ns: expected at most"));
  EXPECT_THAT(error_of("trn1", {"host.bytes_per_ns=1e-30"}), HasSubstr("expected at least 0.001, found 1e-30"));
  EXPECT_THAT(error_of("trn1", {"core.sbuf_partition_bytes=262145"}), HasSubstr("found 262145"));
  EXPECT_THAT(error_of("trn1", {"core.sbuf_reserved_bytes=196608"}),
              HasSubstr("expected less than sbuf_partition_bytes (196608), found 196608"));
  EXPECT_THAT(error_of("trn1", {"dma.engines=17"}), HasSubstr("expected 1 to 16, found 17"));
  EXPECT_THAT(error_of("trn1", {"dma.engines=fast"}), HasSubstr("expected an integer"));
  EXPECT_THAT(error_of("trn1", {"host.bytes_per_ns=0"}),
              HasSubstr("host.bytes_per_ns: expected a positive number, found 0"));
}

TEST(Description, OverlappingRangesAreRefusedWithBoth) {
  // HBM is 16 GiB from 0: its last byte is 0x3ffffffff.
  EXPECT_THAT(error_of("trn1", {"map.core0_base=1073741824"}),
              AllOf(HasSubstr("map.core0_base"), HasSubstr("core0 at 0x40000000..0x43ffffff"),
                    HasSubstr("overlaps hbm at 0x0..0x3ffffffff")));
  EXPECT_EQ(error_of("trn1", {"map.core0_base=17179869184"}), "no error");
  EXPECT_THAT(error_of("trn1", {"map.core0_base=18446744073709551615"}), HasSubstr("core0 ends beyond 2^64"));
}

TEST(Description, NamesOneMachine) {
  EXPECT_EQ(machine_of(load_description("trn1", {}).description).name(), "neuroncore");
  const auto cube = load_description("pto-cube", {}).description;
  EXPECT_EQ(machine_of(cube).name(), "cube");
  EXPECT_FALSE(cube.core || cube.dma);
  EXPECT_EQ(cube.cube->clock_hz, 1'850'000'000u);  // hw-native-sys/pto-isa, cost model
  EXPECT_THAT(error_of("pto-cube", {"core.pe.fill_cycles=3"}),
              HasSubstr("-c core.pe.fill_cycles: a description names one machine: 'cube', or 'core' and 'dma'"));
  EXPECT_THAT(error_of("trn1", {"cube.clock_hz=1000000000"}), HasSubstr("a description names one machine"));
}

TEST(Description, FiguresOfACubeAreChecked) {
  EXPECT_THAT(error_of("pto-cube", {"cube.matrix_unit.tile_m=0"}),
              HasSubstr("-c cube.matrix_unit.tile_m: expected 1 to 1024, found 0"));
  EXPECT_THAT(error_of("pto-cube", {"cube.tile_selectors=newest"}), HasSubstr("expected one of relative, absolute"));
  // The core's window is 32 MiB.
  EXPECT_THAT(error_of("pto-cube", {"map.core0_base=4096"}), HasSubstr("core0 at 0x1000..0x2000fff overlaps hbm"));
}

TEST(Description, BasesAreAligned) {
  EXPECT_THAT(error_of("trn1", {"map.hbm_base=1"}), HasSubstr("-c map.hbm_base: expected a multiple of 4096, found 1"));
  EXPECT_THAT(error_of("trn1", {"map.core0_base=17179869185"}),
              HasSubstr("map.core0_base: expected a multiple of 4096"));
}

TEST_F(DescriptionFile, ErrorsNameFileAndLine) {
  const auto file = write("{\n  \"name\": \"mine\",\n  \"dma\": {\n    \"bytes_per_ns\": -3\n  }\n}\n");
  EXPECT_THAT(error_of(file, {}), AllOf(HasSubstr(file + ":4"), HasSubstr("dma.bytes_per_ns"), HasSubstr("found -3")));
}

TEST_F(DescriptionFile, SourcesMustBeOfFiguresThatExist) {
  const auto file = write("{\"sources\": {\"dma.bytes_per_n\": \"a book\"}}");
  EXPECT_THAT(error_of(file, {}), AllOf(HasSubstr("no such figure"), HasSubstr("nearest is 'dma.bytes_per_ns'")));
}

TEST_F(DescriptionFile, AFileIsReadAndItsTextHashed) {
  const std::string text = R"({"name": "mine", "dma": {"engines": 2}})";
  const auto loaded = load_description(write(text), {});
  EXPECT_EQ(loaded.description.name, "mine");
  EXPECT_EQ(loaded.description.dma->engines, 2u);
  EXPECT_EQ(loaded.sha256, sha256(text));
}

// `--platform <(...)` is a pipe: it can be read once.
TEST_F(DescriptionFile, APipeIsReadOnce) {
  const std::string text = R"({"name": "piped"})";
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(file_) << text; });
  const auto loaded = load_description(file_, {});
  writer.join();
  EXPECT_EQ(loaded.description.name, "piped");
  EXPECT_EQ(loaded.sha256, sha256(text));
}

TEST(Description, ADeviceWithoutEndIsRefused) {
  EXPECT_THAT(error_of("/dev/zero", {}), HasSubstr("/dev/zero: longer than 67108864 bytes, expected a JSON file"));
}

TEST_F(DescriptionFile, ADumpReadsBackToTheSame) {
  const auto original = load_description("trn3", {"dma.run_floor_ns=0.1"}).description;
  const auto text = described::pretty_struct(original);
  EXPECT_EQ(described::pretty_struct(load_description(write(text), {}).description), text);
}

TEST(Description, FilesThatAreNotThere) { EXPECT_THAT(error_of("./no/such.json", {}), HasSubstr("./no/such.json")); }

}  // namespace
}  // namespace tilevp::platform
