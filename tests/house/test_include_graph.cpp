#include "house/include_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilevp::house {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A small house in order; each test below adds one wrong file.
SourceTree good_house() {
  return {
      {"models/base/errors.hpp", "#include <string>\n"},
      {"models/base/agent.hpp", "#include <systemc>\n"},
      {"models/numeric/dtype.hpp", "#include \"tilevp/base/errors.hpp\"\n"},
      {"models/neuroncore/isa.hpp", "#include \"tilevp/numeric/dtype.hpp\"\n"},
      {"models/neuroncore/pe_array.hpp", "#include <tlm>\n#include \"tilevp/base/agent.hpp\"\n"},
      {"firmware/runtime/host.hpp", "#include <span>\n"},
      {"firmware/neuron/conv2d/plan.hpp",
       "#include \"tilevp/neuroncore/isa.hpp\"\n#include \"tilevp/runtime/host.hpp\"\n"},
      {"platform/builder.cpp", "#include \"tilevp/neuroncore/pe_array.hpp\"\n#include \"tilevp/runtime/host.hpp\"\n"},
      {"platform/builder.hpp", ""},
      {"sc_main/main.cpp",
       "#include <systemc>\n#include \"tilevp/platform/builder.hpp\"\n#include \"tilevp/base/errors.hpp\"\n"},
  };
}

std::vector<std::string> violations_with(const std::string& path, const std::string& text) {
  SourceTree sources = good_house();
  sources[path] = text;
  return include_violations(sources);
}

TEST(IncludeGraph, TheHouseIsInOrder) {
  const SourceTree sources = read_sources(TILEVP_SOURCE_DIR);
  ASSERT_TRUE(sources.contains("models/base/errors.hpp"));
  EXPECT_THAT(include_violations(sources), IsEmpty());
}

TEST(IncludeGraph, AcceptsAHouseInOrder) { EXPECT_THAT(include_violations(good_house()), IsEmpty()); }

TEST(IncludeGraph, ModelsDoNotKnowPlatform) {
  EXPECT_THAT(violations_with("models/numeric/dtype.cpp", "#include \"tilevp/platform/builder.hpp\"\n"),
              Contains("models/numeric/dtype.cpp: includes tilevp/platform/builder.hpp: models know only models"));
}

TEST(IncludeGraph, ModelsDoNotKnowFirmware) {
  EXPECT_THAT(violations_with("models/base/x.cpp", "#include \"tilevp/runtime/host.hpp\"\n"),
              ElementsAre("models/base/x.cpp: includes tilevp/runtime/host.hpp: models know only models"));
}

TEST(IncludeGraph, FirmwareDoesNotKnowModules) {
  EXPECT_THAT(
      violations_with("firmware/neuron/x.cpp", "  #  include \"tilevp/neuroncore/pe_array.hpp\"\n"),
      Contains("firmware/neuron/x.cpp: includes tilevp/neuroncore/pe_array.hpp: of models, firmware knows only the "
               "programmer's headers"));
}

TEST(IncludeGraph, FirmwareDoesNotKnowThePlatform) {
  EXPECT_THAT(
      violations_with("firmware/neuron/x.cpp", "#include \"tilevp/platform/builder.hpp\"\n"),
      ElementsAre(
          "firmware/neuron/x.cpp: includes tilevp/platform/builder.hpp: firmware knows only firmware and models"));
}

TEST(IncludeGraph, FirmwareDoesNotIncludeSystemC) {
  for (const std::string header : {"systemc", "systemc.h", "tlm", "tlm_utils/simple_initiator_socket.h"})
    EXPECT_THAT(
        violations_with("firmware/neuron/x.cpp", "#include <" + header + ">\n"),
        ElementsAre("firmware/neuron/x.cpp: firmware reaches SystemC: firmware/neuron/x.cpp -> <" + header + ">"));
}

TEST(IncludeGraph, FirmwareDoesNotReachSystemCThroughAnotherHeader) {
  EXPECT_THAT(
      violations_with("firmware/neuron/x.cpp", "#include \"tilevp/base/agent.hpp\"\n"),
      ElementsAre("firmware/neuron/x.cpp: firmware reaches SystemC: firmware/neuron/x.cpp -> models/base/agent.hpp -> "
                  "<systemc>"));
}

TEST(IncludeGraph, PlatformDoesNotKnowPrograms) {
  EXPECT_THAT(
      violations_with("platform/x.cpp", "#include \"tilevp/neuron/conv2d/plan.hpp\"\n"),
      ElementsAre(
          "platform/x.cpp: includes tilevp/neuron/conv2d/plan.hpp: platform knows models and firmware/runtime"));
}

TEST(IncludeGraph, TheCommandDoesNotKnowModules) {
  EXPECT_THAT(violations_with("sc_main/x.cpp", "#include \"tilevp/neuroncore/pe_array.hpp\"\n"),
              ElementsAre(HasSubstr("of models, sc_main knows only the programmer's headers")));
}

TEST(IncludeGraph, FoldersDoNotIncludeEachOther) {
  EXPECT_THAT(violations_with("models/base/x.cpp", "#include \"tilevp/neuroncore/isa.hpp\"\n"),
              Contains("models/base: the folders include each other: models/base -> models/neuroncore -> models/base"));
}

TEST(IncludeGraph, RefusesRelativeAndMissingIncludes) {
  EXPECT_THAT(violations_with("models/base/x.cpp", "#include \"errors.hpp\"\n"),
              ElementsAre(HasSubstr("are included as")));
  EXPECT_THAT(violations_with("models/base/x.cpp", "#include \"tilevp/base/none.hpp\"\n"),
              ElementsAre(HasSubstr("there is no such file")));
}

}  // namespace
}  // namespace tilevp::house
