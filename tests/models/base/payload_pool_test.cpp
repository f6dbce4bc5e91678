#include "tilevp/base/payload_pool.hpp"

#include <gtest/gtest.h>

namespace {

struct Note : tlm::tlm_extension<Note> {
  int value = 0;
  void clear() { value = 0; }
  tlm::tlm_extension_base* clone() const override { return new Note(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { value = static_cast<const Note&>(other).value; }
};

TEST(PayloadPool, ReusesOnePayloadAndHandsItOutAsNew) {
  tilevp::PayloadPool<Note> pool;
  for (int i = 0; i < 3; ++i) {
    const auto handle = pool.acquire();
    EXPECT_EQ(handle->get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
    EXPECT_EQ(handle->get_byte_enable_ptr(), nullptr);
    EXPECT_FALSE(handle->is_dmi_allowed());
    EXPECT_EQ(handle.extension().value, 0);
    handle.extension().value = 7;
    handle->set_response_status(tlm::TLM_OK_RESPONSE);
    handle->set_dmi_allowed(true);
  }
  EXPECT_EQ(pool.size(), 1U);
}

TEST(PayloadPool, TwoAtOnceAreTwoPayloads) {
  tilevp::PayloadPool<Note> pool;
  const auto first = pool.acquire();
  const auto second = pool.acquire();
  EXPECT_NE(&*first, &*second);
  EXPECT_EQ(pool.size(), 2U);
}

}  // namespace
