// The detector of races by itself: each kind of order with and without it, and the bound of what is kept.
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/transaction_observer.hpp"
#include "tilevp/memory/access_pattern.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/neuroncore/rules.hpp"

namespace {

using namespace tilevp::neuroncore;
using tilevp::Fault;
using tilevp::memory::AccessPattern;

constexpr unsigned engine_ports = 0x1000;
constexpr unsigned dma_ports = 0x100;
constexpr std::uint64_t core_base = std::uint64_t{1} << 44;
constexpr std::uint64_t hbm = 0x1000;

// ---- Order

Operand tile(std::uint32_t offset, unsigned elements = 4, int step = 1, unsigned partition = 0) {
  return {Space::sbuf,
          static_cast<std::uint8_t>(partition),
          offset,
          {Dim{0, 1}, Dim{0, 1}, Dim{static_cast<std::int16_t>(step), static_cast<std::uint16_t>(elements)}}};
}

// Events as a machine would tell them, one call each.
struct Story {
  RaceDetector detector{{.core = "core0",
                         .core_base = core_base,
                         .dma_engines = 16,
                         .engine_port_base = engine_ports,
                         .dma_port_base = dma_ports}};
  std::array<std::uint64_t, engines> index{};
  std::array<std::int64_t, 256> semaphores{};
  std::array<std::uint64_t, 256> descriptors{};

  Story() {
    for (unsigned e = 0; e < engines; ++e) detector.started(static_cast<Engine>(e));
  }
  static std::uint64_t id(Engine engine) { return tilevp::id_of(engine_ports + static_cast<unsigned>(engine), 1); }
  std::uint64_t next(Engine engine) { return index[static_cast<std::size_t>(engine)]++; }

  void raise(unsigned semaphore, std::uint64_t cause) {
    const std::int64_t before = semaphores[semaphore]++;
    detector.semaphore_changed(semaphore, before, before + 1, false, cause);
  }
  // An instruction that only writes or only reads fp32 elements; `raises`: a semaphore.
  void access(Engine engine, const Operand& where, bool write, int raises = -1, unsigned partitions = 32) {
    Instruction i;
    i.opcode = write ? Opcode::memset : Opcode::tensor_copy;
    i.partitions = static_cast<std::uint8_t>(partitions);
    i.destination = where;
    detector.issued(engine, next(engine), i);
    detector.commits(engine);
    detector.touches(where, partitions, 4, write);
    if (raises >= 0) raise(static_cast<unsigned>(raises), id(engine));
    detector.completed(engine);
  }
  void writes(Engine engine, const Operand& where, int raises = -1) { access(engine, where, true, raises); }
  void reads(Engine engine, const Operand& where, int raises = -1) { access(engine, where, false, raises); }
  void waits(Engine engine, unsigned semaphore, std::int32_t value) {
    Instruction record;
    record.opcode = Opcode::semaphore;
    record.waits[0] = {Condition::ge, static_cast<std::uint8_t>(semaphore), value};
    detector.passed(engine, next(engine), record);
  }
  void does(Engine engine, Opcode opcode) {
    Instruction record;
    record.opcode = opcode;
    detector.passed(engine, next(engine), record);
    if (opcode == Opcode::halt) detector.ended(engine);
  }
  void rings(Engine engine, unsigned dma_engine, unsigned queue, std::uint32_t count = 1) {
    does(engine, Opcode::dma_trigger);
    detector.rang(dma_engine, queue, count, id(engine));
  }
  void copies(unsigned dma_engine, unsigned queue, std::uint64_t from, std::uint64_t to, int raises = -1) {
    const std::uint64_t number = descriptors[16 * dma_engine + queue]++;
    detector.descriptor_touches(dma_engine, queue, number, AccessPattern::contiguous(from, 64), false);
    detector.descriptor_touches(dma_engine, queue, number, AccessPattern::contiguous(to, 64), true);
    detector.descriptor_ended(dma_engine, queue, number, true);
    if (raises >= 0) raise(static_cast<unsigned>(raises), tilevp::id_of(dma_ports + dma_engine, 1));
  }
};

void expect_fault(const char* rule, const std::string& text, const std::function<void()>& act) {
  try {
    act();
    FAIL() << "nothing was raised, expected: " << text;
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), rule) << fault.what();
    EXPECT_NE(std::string(fault.what()).find(text), std::string::npos) << fault.what();
  }
}
void expect_race(const std::string& text, const std::function<void()>& act) {
  expect_fault(rule::race_access, text, act);
}

TEST(Races, AWaitOrdersTwoEngines) {
  Story story;
  story.writes(Engine::vector, tile(64), 3);
  story.waits(Engine::scalar, 3, 1);
  story.reads(Engine::scalar, tile(64));
}

TEST(Races, WithoutItTheMissingWaitIsNamed) {
  Story story;
  story.writes(Engine::vector, tile(64), 3);
  expect_race(
      "reads bytes 64 to 79 of partitions 0 to 31 of core0.sbuf, which vector@0 (memset sbuf[0..31, 64, 4:1] fp32 = 0",
      [&] {
        Story same = story;
        same.reads(Engine::scalar, tile(64));
      });
  expect_race("writes, and nothing orders the two: scalar must wait for semaphore 3 >= 1",
              [&] { story.reads(Engine::scalar, tile(64)); });
}

TEST(Races, ReadsDoNotRace) {
  Story story;
  story.reads(Engine::vector, tile(64));
  story.reads(Engine::scalar, tile(64));
}

// Elements 0, 2, 4 and 1, 3, 5 of four bytes; then one byte further.
TEST(Races, InterleavedTilesAreApartAndOneByteIsNot) {
  Story story;
  story.writes(Engine::vector, tile(64, 3, 2));
  story.writes(Engine::gpsimd, tile(68, 3, 2));
  expect_race("bytes 67 to 67", [&] { story.writes(Engine::scalar, tile(67 - 12, 2, 3)); });
}

TEST(Races, PartitionsApart) {
  Story story;
  story.access(Engine::vector, tile(64), true);
  story.access(Engine::gpsimd, tile(64, 4, 1, 32), true);
}

TEST(Races, AnEngineKeepsItsOwnOrder) {
  Story story;
  story.writes(Engine::vector, tile(64));
  story.reads(Engine::vector, tile(64));
  story.writes(Engine::vector, tile(64));
}

// The sequencer is ahead of its own unit.
TEST(Races, AnEnginesDmaIsNotBehindItsInstructions) {
  Story story;
  story.writes(Engine::vector, tile(64));
  story.rings(Engine::vector, 0, 0);
  expect_race("vector must wait before vector@1 for", [&] {
    Story with_semaphore;
    with_semaphore.writes(Engine::vector, tile(64), 5);
    with_semaphore.rings(Engine::vector, 0, 0);
    with_semaphore.copies(0, 0, core_base + 64, hbm);
  });
  expect_race("no semaphore orders dma0 queue 0 descriptor 0 after vector@0",
              [&] { story.copies(0, 0, core_base + 64, hbm); });
}

TEST(Races, ADrainOrdersThem) {
  Story story;
  story.writes(Engine::vector, tile(64));
  story.does(Engine::vector, Opcode::drain);
  story.rings(Engine::vector, 0, 0);
  story.copies(0, 0, core_base + 64, hbm);
}

TEST(Races, AQueueKeepsItsOrder) {
  Story story;
  story.rings(Engine::sync, 2, 5, 2);
  story.copies(2, 5, hbm, core_base + 64);
  story.copies(2, 5, core_base + 64, hbm + 64);
}

TEST(Races, TwoQueuesDoNot) {
  Story story;
  story.rings(Engine::sync, 2, 5);
  story.rings(Engine::sync, 2, 6);
  story.copies(2, 5, hbm, core_base + 64);
  expect_race("dma2 queue 6 descriptor 0", [&] { story.copies(2, 6, core_base + 64, hbm + 64); });
}

TEST(Races, NorDoesAQueueOnTwoDmaEngines) {
  Story story;
  story.rings(Engine::sync, 2, 5);
  story.rings(Engine::sync, 3, 5);
  story.copies(2, 5, hbm, core_base + 64, 9);
  expect_race(
      "sync must wait before sync@1 for semaphore 9 once every DMA engine of the copy has raised it (this one "
      "raised it to 1)",
      [&] { story.copies(3, 5, core_base + 64, hbm + 64); });
}

// What A told B, B tells C.
TEST(Races, OrderIsTransitive) {
  Story story;
  story.writes(Engine::vector, tile(64), 1);
  story.waits(Engine::scalar, 1, 1);
  story.writes(Engine::scalar, tile(256), 2);
  story.waits(Engine::gpsimd, 2, 1);
  story.reads(Engine::gpsimd, tile(64));
}

TEST(Races, AnEarlierCountOrdersLess) {
  Story story;
  story.writes(Engine::vector, tile(64), 1);
  story.writes(Engine::vector, tile(256), 1);
  story.waits(Engine::scalar, 1, 1);
  story.reads(Engine::scalar, tile(64));
  expect_race("scalar must wait for semaphore 1 >= 2", [&] { story.reads(Engine::scalar, tile(256)); });
}

// ---- Counts that do not say who

TEST(Races, ACountThatTwoCanReachSaysNothing) {
  Story story;
  story.writes(Engine::vector, tile(64), 1);
  story.waits(Engine::scalar, 1, 1);
  expect_fault(rule::race_ambiguous_wait, "scalar@0 waits for semaphore 1 >= 1, which vector@0 and gpsimd@0 both raise",
               [&] { story.writes(Engine::gpsimd, tile(256), 1); });
}

TEST(Races, ACountThatNeedsBothDoes) {
  Story story;
  story.writes(Engine::vector, tile(64), 1);
  story.writes(Engine::gpsimd, tile(256), 1);
  story.waits(Engine::scalar, 1, 2);
  story.reads(Engine::scalar, tile(64));
  story.reads(Engine::scalar, tile(256));
}

TEST(Races, AnUpdateBehindTheWaitDoesNotCount) {
  Story story;
  story.writes(Engine::vector, tile(64), 1);
  story.waits(Engine::scalar, 1, 1);
  story.waits(Engine::gpsimd, 1, 1);
  story.writes(Engine::gpsimd, tile(256), 1);
}

// ---- The host

TEST(Races, AStartTellsWhatTheHostWrote) {
  RaceDetector detector({.core_base = core_base, .engine_port_base = engine_ports, .dma_port_base = dma_ports});
  detector.host_wrote(core_base + 64, 16);
  detector.started(Engine::vector);
  detector.issued(Engine::vector, 0, {});
  detector.commits(Engine::vector);
  detector.touches(tile(64), 1, 4, false);
  detector.completed(Engine::vector);
}

TEST(Races, TheHostWritesTooLate) {
  Story story;
  story.reads(Engine::vector, tile(64), 4);
  expect_race("the host writes bytes 64 to 79 of partition 0 of core0.sbuf",
              [&] { story.detector.host_wrote(core_base + 64, 16); });
}

std::array<std::byte, 4> shows(std::uint32_t value) {
  return {std::byte(value), std::byte(value >> 8), std::byte(value >> 16), std::byte(value >> 24)};
}
constexpr std::uint64_t control = core_base + registers::control_window;

void read_tile(Story& story) {
  const std::array<std::byte, 16> bytes{};
  story.detector.host_read(core_base + 64, bytes);
}

TEST(Races, AnInterruptTellsTheHost) {
  Story story;
  story.writes(Engine::vector, tile(64));
  story.does(Engine::vector, Opcode::halt);
  story.detector.host_took_core_interrupt();
  read_tile(story);
}

TEST(Races, TheInterruptOfAnotherEngineDoesNot) {
  Story story;
  story.writes(Engine::vector, tile(64), 2);
  story.does(Engine::scalar, Opcode::halt);
  story.detector.host_read(control + registers::interrupt, shows(1u << 1));
  expect_race("the host must see that semaphore 2 >= 1", [&] { read_tile(story); });
}

TEST(Races, StatusTellsTheHost) {
  Story story;
  story.writes(Engine::vector, tile(64));
  story.does(Engine::vector, Opcode::halt);
  story.detector.host_read(control + registers::sequencer(3) + registers::status, shows(2));
  read_tile(story);
}

TEST(Races, ASemaphoreTellsTheHostUpToItsCount) {
  Story story;
  story.writes(Engine::vector, tile(256), 7);
  story.detector.host_read(control + registers::semaphore(7), shows(1));
  story.writes(Engine::vector, tile(64), 7);
  Story early = story;
  expect_race("the host", [&] { read_tile(early); });
  story.detector.host_read(control + registers::semaphore(7), shows(2));
  read_tile(story);
}

TEST(Races, ARingsHeadAndADmaInterruptTellTheHost) {
  const auto copied = [] {
    Story story;
    story.rings(Engine::sync, 1, 2);
    story.copies(1, 2, hbm, core_base + 64);
    return story;
  };
  Story none = copied();
  expect_race("the host reads", [&] { read_tile(none); });
  Story head = copied();
  head.detector.host_saw_ended(1, 2, 1);
  read_tile(head);
  Story interrupt = copied();
  interrupt.detector.host_took_dma_interrupt();
  read_tile(interrupt);
  Story idle = copied();
  idle.detector.host_saw_idle(1);
  read_tile(idle);
  Story other = copied();
  other.detector.host_saw_ended(1, 3, 1);
  expect_race("the host reads", [&] { read_tile(other); });
}

// A second kernel: the host has seen all engines halt and sets the semaphores to 0.
TEST(Races, ASemaphoreWrittenAnewStartsAnew) {
  Story story;
  story.writes(Engine::vector, tile(64), 1);
  for (unsigned e = 0; e < engines; ++e) story.does(static_cast<Engine>(e), Opcode::halt);
  story.detector.host_took_core_interrupt();
  story.detector.semaphore_changed(1, 1, 0, true, 0);
  story.semaphores[1] = 0;
  for (unsigned e = 0; e < engines; ++e) story.detector.started(static_cast<Engine>(e));
  story.reads(Engine::scalar, tile(64));
  story.writes(Engine::gpsimd, tile(256), 1);
  story.waits(Engine::scalar, 1, 1);
  story.reads(Engine::scalar, tile(256));
}

TEST(Races, AResetOrdersWhatWasAndWhatIsStartedNext) {
  Story story;
  story.writes(Engine::vector, tile(64));
  story.detector.core_was_reset();
  story.detector.started(Engine::scalar);
  story.reads(Engine::scalar, tile(64));
}

// ---- What is kept

// A ring of four tiles that one engine fills and another empties, a hundred thousand times over; and one that moves on
// and touches ever new bytes of HBM.
TEST(Races, WhatIsKeptDoesNotGrow) {
  Story story;
  std::size_t most = 0;
  for (int turn = 0; turn < 100'000; ++turn) {
    if (turn >= 4) story.waits(Engine::vector, 2, turn - 3);
    story.writes(Engine::vector, tile(static_cast<std::uint32_t>(64 * (turn % 4))), 1);
    story.waits(Engine::scalar, 1, turn + 1);
    story.reads(Engine::scalar, tile(static_cast<std::uint32_t>(64 * (turn % 4))), 2);
    most = std::max(most, story.detector.records());
  }
  EXPECT_LE(most, 16u);
}

TEST(Races, WhatIsSetAsideIsNotForgotten) {
  Story story;
  for (int turn = 0; turn < 20'000; ++turn) {
    if (turn > 0) story.waits(Engine::vector, 2, turn);
    story.writes(Engine::vector, tile(static_cast<std::uint32_t>(64 + 32 * (turn % 2000))), 1);
    story.waits(Engine::scalar, 1, turn + 1);
    story.reads(Engine::scalar, tile(static_cast<std::uint32_t>(64 + 32 * (turn % 2000))), 2);
  }
  EXPECT_LE(story.detector.records(), 5000u);
  expect_race("the host reads", [&] { read_tile(story); });
}

}  // namespace
