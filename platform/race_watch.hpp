#pragma once
// What the detector of races is told by the parts around a core: its DMA engines and the host.
#include <memory>
#include <vector>

#include "tilevp/dma/dma_engine.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/platform/host_agent.hpp"

namespace tilevp::platform {

class RaceWatch final : public HostObserver {
 public:
  // Connects itself to the engines; the core and the host are connected by the caller.
  RaceWatch(const neuroncore::RaceSetup& setup, const std::vector<std::unique_ptr<dma::DmaEngine>>& engines);

  neuroncore::RaceDetector& detector() { return detector_; }

  void wrote(std::uint64_t address, std::uint64_t bytes) override { detector_.host_wrote(address, bytes); }
  void read(std::uint64_t address, std::span<const std::byte> bytes) override;
  void interrupted(unsigned line) override;

 private:
  class EngineWatch final : public dma::OrderObserver {
   public:
    EngineWatch(neuroncore::RaceDetector& detector, unsigned engine) : detector_(detector), engine_(engine) {}
    void rang(unsigned queue, std::uint32_t descriptors, std::uint64_t cause) override {
      detector_.rang(engine_, queue, descriptors, cause);
    }
    void touched(unsigned queue, std::uint64_t number, const memory::AccessPattern& bytes, bool write) override {
      detector_.descriptor_touches(engine_, queue, number, bytes, write);
    }
    void ended(unsigned queue, std::uint64_t number, bool interrupts) override {
      detector_.descriptor_ended(engine_, queue, number, interrupts);
    }
    void dropped() override { detector_.dma_was_reset(engine_); }

   private:
    neuroncore::RaceDetector& detector_;
    unsigned engine_;
  };
  void read_dma(unsigned engine, std::uint64_t offset, std::uint64_t value);

  neuroncore::RaceDetector detector_;
  std::uint64_t dma_window_;  // address of the first engine's registers
  std::vector<std::unique_ptr<EngineWatch>> engines_;
};

}  // namespace tilevp::platform
