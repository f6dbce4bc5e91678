// neuron/raw, the assembler's commands, and files in and out of memory, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/command_runner.hpp"
#include "system/raw_values.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

const std::string example = std::string(TILEVP_SOURCE_DIR) + "/docs/examples/matmul.s";

const boost::json::value& unit(const boost::json::value& report, std::string_view path) {
  for (const auto& one : report.at("performance").at("units").as_array())
    if (one.at("path").as_string() == path) return one;
  throw std::runtime_error("no such unit");
}

CommandResult run_text(const Folder& folder, const std::string& text, const std::vector<std::string>& more = {}) {
  write_file(folder / "p.s", text);
  std::vector<std::string> words{"run", "neuron/raw", folder / "p.s", "-q"};
  words.insert(words.end(), more.begin(), more.end());
  return tilevp(words);
}

TEST(Raw, TheExampleOfTheDocumentation) {
  const Folder folder;
  const auto result = tilevp(
      {"run", "neuron/raw", example, "--dump", "hbm+0x1200:24=" + (folder / "y.bin"), "--report", folder / "r.json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(floats(read_file(folder / "y.bin")), ElementsAre(1, 3, 11, 2, 4, 16));
  const auto report = report_of(folder / "r.json");
  // 4 passes x max(3 columns, min(64, 2 partitions)); 2 x 2 x 3 products; 3 fp32 a partition cost the vector engine 64.
  EXPECT_EQ(report.at("result").at("pe_cycles"), 12);
  EXPECT_EQ(report.at("result").at("macs"), 12);
  EXPECT_EQ(report.at("result").at("matmuls"), 1);
  EXPECT_EQ(unit(report, "core0.pe").at("busy_cycles"), 12);
  EXPECT_EQ(unit(report, "core0.vector").at("busy_cycles"), 64);
  EXPECT_EQ(report.at("result").at("dma_bytes"), 16 + 24 + 24);
  EXPECT_EQ(report.at("result").at("instructions"), 4 + 3 + 3);
  EXPECT_EQ(report.at("result").at("executed").at("sync"), 4);
}

TEST(Raw, RunsWhatAsmMakes) {
  const Folder folder;
  ASSERT_EQ(tilevp({"asm", example, "-o", folder / "p.bin"}).exit_code, 0);
  const auto text = tilevp({"disasm", folder / "p.bin"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              HasSubstr("  matmul psum[0..1, bank 0 + 0, 3:1] fp32 = sbuf[0..1, 0, 2:1] fp32 x sbuf[0..1, 64, "
                        "3:1] fp32 START STOP, sem 1 += 1\n"));
  write_file(folder / "q.s", text.out);
  ASSERT_EQ(tilevp({"asm", folder / "q.s", "-o", folder / "q.bin"}).exit_code, 0);
  EXPECT_EQ(read_file(folder / "q.bin"), read_file(folder / "p.bin"));
  const std::string dump = "--dump=hbm+4608:24=" + (folder / "y.bin");
  const auto result = tilevp({"run", "neuron/raw", folder / "q.bin", dump});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(floats(read_file(folder / "y.bin")), ElementsAre(1, 3, 11, 2, 4, 16));
}

TEST(Raw, BareRecordsAreOfTheEngineThatIsNamed) {
  const Folder folder;
  std::string halt(64, '\0');
  halt[0] = 1;
  halt[1] = 0x10;
  halt[3] = halt[13] = 1;
  write_file(folder / "x.bin", halt);
  EXPECT_EQ(tilevp({"disasm", folder / "x.bin", "--engine", "sync"}).out, ".engine sync\n  halt\n");
  EXPECT_EQ(tilevp({"run", "neuron/raw", folder / "x.bin", "--engine", "gpsimd", "-q"}).exit_code, 0);
  write_file(folder / "x.bin", halt + std::string(1, '\0'));
  const auto result = tilevp({"disasm", folder / "x.bin"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("x.bin: expected whole records of 64 bytes, found 65 bytes"));
}

TEST(Raw, WrongInstructionsFault) {
  const Folder folder;
  const auto start = std::string(".engine vector\nnop\n");
  auto result = run_text(folder, start + "memset sbuf[3..40, 0, 4:1] fp32 = 0\nhalt\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("memset #1"), HasSubstr("[partition.start]"))) << result.err;
  result = run_text(folder, start + ".record " + std::string(128, '0') + "\nhalt\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("vector #1: the record is no instruction"), HasSubstr("[isa.decode]")));
  result = run_text(folder, start);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("[sequencer.stream_end]"));
}

// The second thread still has products to compute when the machine stops: they must not outlive its memories.
TEST(Raw, AFaultOnTwoThreadsIsTheSameFault) {
  std::string text = ".engine gpsimd\nmemset sbuf[0..127, 0, 512:1] bf16 = 1.0, sem 0 += 1\nhalt\n";
  text += ".engine pe\nsemaphore wait sem 0 >= 1\n";
  for (int i = 0; i < 30; ++i)
    text += std::string("matmul psum[0..127, bank 0, 512:1] fp32 = sbuf[0..127, 0, 128:1] bf16 x ") +
            "sbuf[0..127, 0, 512:1] bf16 START STOP, sem 1 += 1\n";
  text += "halt\n.engine vector\nsemaphore wait sem 1 >= 30\nmemset sbuf[1..2, 0] fp32 = 0.0\nhalt\n";
  for (int i = 0; i < 5; ++i) {
    const Folder folder;
    const auto result = run_text(folder, text, {"--threads", "2", "--report", folder / "r.json"});
    ASSERT_EQ(result.exit_code, 3) << result.err;
    EXPECT_THAT(result.err, HasSubstr("[partition.start]"));
    EXPECT_EQ(report_of(folder / "r.json").at("status"), "fault");
  }
}

TEST(Raw, APipeIsReadOnceAndAFolderIsNoFile) {
  const auto piped =
      run_command({"/bin/sh", "-c", "cat " + example + " | " + TILEVP_BINARY + " run neuron/raw /dev/stdin -q"});
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  const Folder folder;
  for (const auto& words :
       {std::vector<std::string>{"run", "neuron/raw", folder / "."}, {"asm", folder / ".", "-o", folder / "o"}}) {
    const auto result = tilevp(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("Is a directory"));
  }
}

TEST(Raw, WhatNeverEndsIsNoInput) {
  const Folder folder;
  const auto assembled = tilevp({"asm", "/dev/zero", "-o", folder / "o"});
  EXPECT_EQ(assembled.exit_code, 2);
  EXPECT_EQ(assembled.err, "tilevp: error: /dev/zero: cannot read: longer than 268435456 bytes\n");
  const auto loaded = tilevp({"run", "neuron/raw", example, "-q", "--load", "hbm=/dev/zero"});
  EXPECT_EQ(loaded.exit_code, 2);
  EXPECT_EQ(loaded.err, "tilevp: error: --load: /dev/zero: cannot read: not a regular file\n");
}

TEST(Raw, DataBeyondTheLastAddress) {
  const Folder folder;
  const auto result = run_text(folder, ".data 0xffffffffffffffff uint8: 1, 2\n.engine pe\nhalt\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("expected addresses of 64 bits, found 2 bytes from 18446744073709551615"));
}

TEST(Raw, AProgramThatNeverEndsSaysWhoWaits) {
  const Folder folder;
  const auto result =
      run_text(folder, ".engine pe\nnop\nsemaphore wait sem 9 >= 4\nhalt\n.engine sync\nnop, sem 9 += 3\nhalt\n");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("core0.pe #1 semaphore waits for semaphore 9"),
                                HasSubstr("(has 3, wants >= 4)"), HasSubstr("host waits for interrupt line 0")));
}

TEST(Raw, TextMistakesHaveLineAndColumnAndLeaveNoFile) {
  const Folder folder;
  write_file(folder / "p.s", ".engine pe\n  mtmul psum[0, bank 0]\n");
  const auto result = tilevp({"asm", folder / "p.s", "-o", folder / "p.bin"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "tilevp: error: " + (folder / "p.s") +
                            ":2:3: expected an instruction, a descriptor or a directive; nearest is 'matmul', found "
                            "'mtmul'\n");
  EXPECT_FALSE(exists(folder / "p.bin"));
  EXPECT_EQ(tilevp({"run", "neuron/raw", folder / "p.s"}).exit_code, 2);
}

TEST(Raw, WrongWords) {
  const Folder folder;
  const auto refused = [&](const std::vector<std::string>& words, const std::string& text) {
    const auto result = tilevp(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(text), MatchesRegex("[^\n]*\n")));
  };
  refused({"asm"}, "asm: expected a file, found nothing");
  refused({"asm", example}, "asm: expected -o FILE");
  refused({"asm", example, "-o", "/none/x"}, "/none/x: cannot write");
  refused({"asm", folder / "none", "-o", folder / "x"}, "none: cannot read");
  refused({"asm", example, "-o", folder / "x", "--machine", "gpu"},
          "--machine: expected one of neuron, cube, found 'gpu'");
  refused({"disasm", example, "--engine", "p"}, "--engine: expected pe, scalar, gpsimd, vector or sync, found 'p'");
  // Of a text or a program, which name their engines, it would say nothing.
  refused({"disasm", example, "--engine", "pe"}, "--engine: is for bare 64-byte records");
  refused({"run", "neuron/raw", example, "--engine", "pe"}, "is a text, which names its engines itself");
  ASSERT_EQ(tilevp({"asm", example, "-o", folder / "m.bin"}).exit_code, 0);
  refused({"disasm", folder / "m.bin", "--engine", "pe"}, "is a program, which names its engines itself");
  refused({"run", "neuron/raw"}, "neuron/raw: expected a file to run");
  refused({"run", "neuron/raw", example, "more"}, "more: unexpected word");
  refused({"run", "neuron/raw", example, "--check"}, "--check: neuron/raw does not know what its results should be");
  refused({"run", "neuron/raw", example, "--start", "scalar"}, "--start: scalar has no instruction");
  refused({"run", "neuron/raw", example, "--start", "pe,pe"}, "--start: pe stands twice");
  refused({"run", "neuron/raw", example, "--output", "y.npy"}, "--output: unknown option");
  write_file(folder / "r.s", ".ring queue 0 engine 16\nempty\n.engine pe\nhalt\n");
  refused({"run", "neuron/raw", folder / "r.s"}, ".ring: DMA engine 16 has a ring, the core has 16");
}

TEST(MemoryFiles, LoadedBytesReachTheProgramAndTakeNoTime) {
  const Folder folder;
  write_file(folder / "image.bin", bytes_of({10, 20, 30, 40, 50, 60}));
  std::string text = read_file(example);
  const auto data = text.find(".data image");
  text.erase(data, text.find('\n', data) - data);
  const std::vector<std::string> files{"--load",   "hbm + 0x1000 + 256=" + (folder / "image.bin"),
                                       "--dump",   "hbm+0x1200:0x18=" + (folder / "y.bin"),
                                       "--report", folder / "r.json"};
  const auto result = run_text(folder, text, files);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // Rows (1, 3) and (2, 4) of the transposed weights times the image.
  EXPECT_THAT(floats(read_file(folder / "y.bin")), ElementsAre(130, 170, 210, 180, 240, 300));
  const auto report = report_of(folder / "r.json");
  EXPECT_EQ(report.at("files").at("dump hbm+0x1200:0x18").as_string(), folder / "y.bin");
  // Without --load the image is undefined: nobody wrote it.
  const auto undefined = run_text(folder, text);
  EXPECT_EQ(undefined.exit_code, 3);
  EXPECT_THAT(undefined.err, HasSubstr("[memory.undefined_read]"));
}

TEST(MemoryFiles, NpyPayloadsAndOnChipMemories) {
  const Folder folder;
  // Version 1.0, shape (2,), <f4.
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  header += '\n';
  write_file(folder / "x.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + bytes_of({7, 8}));
  const auto result = run_text(
      folder, ".engine vector\ntensor_copy sbuf[32, 16, 2:1] fp32 = psum[64, bank 1, 2:1] fp32\nhalt\n",
      {"--load", "core0.psum+0x200800=" + (folder / "x.npy"), "--dump", "core0.sbuf+8MiB:64=" + (folder / "y.bin")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::vector<float> expected(16, 0.0F);  // what nobody wrote is 0
  expected[4] = 7;
  expected[5] = 8;
  EXPECT_EQ(floats(read_file(folder / "y.bin")), expected);
}

TEST(MemoryFiles, AreWrittenAtFaultsAndDeadlocksToo) {
  const Folder folder;
  const std::vector<std::string> dump{"--dump", "hbm+64:4=" + (folder / "y.bin")};
  const std::string data = ".data hbm + 64 uint8: 1, 2, 3, 4\n.engine pe\n";
  EXPECT_EQ(run_text(folder, data + "semaphore wait sem 1 >= 1\nhalt\n", dump).exit_code, 4);
  EXPECT_EQ(read_file(folder / "y.bin"), "\x01\x02\x03\x04");
  write_file(folder / "y.bin", "old");
  EXPECT_EQ(run_text(folder, data + "nop\n", dump).exit_code, 3);
  EXPECT_EQ(read_file(folder / "y.bin"), "\x01\x02\x03\x04");
}

TEST(MemoryFiles, WrongPlaces) {
  const Folder folder;
  write_file(folder / "x", std::string(100, 'x'));
  write_file(folder / "empty", "");
  const auto refused = [&](const std::string& option, const std::string& value, const std::string& text) {
    const auto result = tilevp({"run", "neuron/raw", example, option, value, "--report", folder / "r.json"});
    EXPECT_EQ(result.exit_code, 2) << value;
    EXPECT_THAT(result.err, AllOf(HasSubstr(text), MatchesRegex("[^\n]*\n"))) << value;
    EXPECT_FALSE(exists(folder / "r.json"));
  };
  const std::string x = "=" + (folder / "x");
  refused("--load", "hbm", "--load: expected ADDR=FILE, found 'hbm'");
  refused("--load", "hmb" + x, "found 'hmb' in 'hmb'; memories are hbm, core0.sbuf, core0.psum; nearest is 'hbm'");
  refused("--load", "hbm=" + (folder / "none"), "none: cannot read: No such file");
  refused("--load", "hbm=" + (folder / ""), "cannot read: Is a directory");
  refused("--load", "hbm=" + (folder / "empty"), "empty has no bytes");
  refused("--load", "hbm+16GiB" + x, "100 bytes from 0x400000000 lie in no memory; there are hbm 0x0 to 0x3ffffffff, ");
  refused("--load", "0x3ffffffff" + x, "100 bytes from 0x3ffffffff leave hbm, which has 1 from there");
  refused("--load", "core0.sbuf+0x6bfff" + x, "leave the 180224 bytes of partition 1 of core0.sbuf");
  refused("--load", "core0.psum+0x4000" + x, "leave the 16384 bytes of partition 0 of core0.psum");
  refused("--load", "17179869184GiB" + x, "expected an address like hbm+0x1000 or 4096, found '17179869184GiB'");
  refused("--dump", "hbm" + x, "without a size");
  refused("--dump", "hbm:0" + x, "expected a size like 64, 0x40 or 4KiB, found '0'");
  refused("--dump", "hbm:4=/none/y", "/none/y: cannot write");
  refused("--dump", "hbm:32GiB" + x, "34359738368 bytes from 0x0 leave hbm, which has 17179869184 from there");
  EXPECT_EQ(read_file(folder / "x"), std::string(100, 'x'));
  const auto twice = tilevp({"run", "neuron/raw", example, "--dump", "hbm:4" + x, "--dump", "hbm:8" + x});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("is the file of --dump too"));
}

}  // namespace
}  // namespace tilevp::test
