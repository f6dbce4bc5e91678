// Every rule of the table, broken once.
#include "tilevp/memory/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/memory/bench.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::memory::testing {
namespace {

// Answers everything with one status.
class Refusing : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Refusing> socket{"socket"};
  Refusing(sc_core::sc_module_name name, tlm::tlm_response_status status) : sc_module(name), status_(status) {
    socket.register_b_transport(this, &Refusing::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) { payload.set_response_status(status_); }
  tlm::tlm_response_status status_;
};

// Statuses as the TLM-2.0 standard names them.
const std::map<std::string, tlm::tlm_response_status>& statuses() {
  static const std::map<std::string, tlm::tlm_response_status> all{
      {"memory.address_error", tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"memory.command_error", tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"memory.burst_error", tlm::TLM_BURST_ERROR_RESPONSE},
      {"memory.byte_enable_error", tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE},
      {"memory.error", tlm::TLM_GENERIC_ERROR_RESPONSE},
  };
  return all;
}

void break_it(const std::string& id) {
  Simulation simulation("simulation");
  unsigned running = 0;
  Driver host("host", simulation, 1, running);
  Memory written_by_nobody("memory", simulation, byte_a_nanosecond());
  const auto status = statuses().find(id);
  Refusing refusing("refusing", status == statuses().end() ? tlm::TLM_OK_RESPONSE : status->second);
  Driver other("other", simulation, 2, running);
  other.memory.socket.bind(written_by_nobody.socket);
  host.memory.socket.bind(refusing.socket);
  Driver& breaker = status == statuses().end() ? other : host;
  breaker.body = [](Driver& driver) { driver.read(AccessPattern::contiguous(0x40, 4)); };
  simulation.run();
}

std::vector<std::string> ids_of_the_table() {
  std::vector<std::string> ids;
  for (const Rule& row : rules()) ids.emplace_back(row.id);
  return ids;
}

class EveryMemoryRule : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryMemoryRule, IsRaisedWithItsIdAndTheAddress) {
  try {
    break_it(GetParam());
    FAIL() << "nothing was raised";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), GetParam());
    EXPECT_THAT(fault.what(), ::testing::HasSubstr("0x40"));
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryMemoryRule, ::testing::ValuesIn(ids_of_the_table()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(MemoryRules, IdsAreUniqueAndEveryStatusHasOne) {
  std::set<std::string> ids;
  for (const Rule& row : rules()) EXPECT_TRUE(ids.insert(row.id).second) << row.id;
  for (const auto& [id, status] : statuses()) EXPECT_TRUE(ids.contains(id)) << id;
  EXPECT_EQ(ids.size(), statuses().size() + 1);
}

}  // namespace
}  // namespace tilevp::memory::testing
