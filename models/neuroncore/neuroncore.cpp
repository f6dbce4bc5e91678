#include "tilevp/neuroncore/neuroncore.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuroncore {
namespace {

constexpr std::array all_engines{Engine::pe, Engine::scalar, Engine::gpsimd, Engine::vector, Engine::sync};

EngineParameters tile_engine_parameters(const Parameters& parameters, Engine engine) {
  switch (engine) {
    case Engine::scalar:
      return parameters.scalar;
    case Engine::gpsimd:
      return parameters.gpsimd;
    case Engine::vector:
      return parameters.vector;
    default:
      return parameters.sync;
  }
}

std::uint64_t clock_hz(const Parameters& parameters, Engine engine) {
  return engine == Engine::pe ? parameters.pe.clock_hz : tile_engine_parameters(parameters, engine).clock_hz;
}

const Parameters& checked(const Parameters& parameters) {
  if (parameters.generation < 2 || parameters.generation > 4)
    throw UserError("generation", "expected 2, 3 or 4, found " + std::to_string(parameters.generation));
  return parameters;
}

}  // namespace

NeuronCore::NeuronCore(sc_core::sc_module_name name, Simulation& simulation, const Parameters& parameters,
                       unsigned index, Memories memories)
    : sc_module(name),
      simulation_(simulation),
      parameters_(checked(parameters)),
      sbuf_("sbuf", simulation, parameters_),
      psum_("psum", simulation),
      semaphores_("semaphore", simulation),
      shared_(this->name(), parameters_, psum_),
      control_("control", simulation, registers::control_bytes) {
  for (const Engine engine : all_engines) build_engine(engine, index);
  for (const Engine engine : all_engines) build_sequencer(engine);
  if (memories == Memories::bound) bind_memories();
  std::array<Sequencer*, engines> sequencers{};
  for (unsigned e = 0; e < engines; ++e) sequencers[e] = sequencers_[e].get();
  state_ = std::make_unique<CoreState>(CoreState{parameters_, sbuf_.usable_bytes(), semaphores_, *pe_, sequencers});
  state_->reset = [this] { reset(); };
  registers_ = std::make_unique<ControlRegisters>(control_, *state_);
  registers_->interrupt_changed = [this] { update_interrupt(); };
}

EngineContext NeuronCore::context_of(Engine engine) {
  const std::size_t e = index_of(engine);
  return {simulation_, *agents_[e], *monitors_[e], semaphores_, engine, *clocks_[e]};
}

void NeuronCore::build_engine(Engine engine, unsigned core) {
  const std::size_t e = index_of(engine);
  const std::string path = std::string(this->name()) + "." + neuroncore::name(engine);
  clocks_[e] = std::make_unique<ClockDomain>(path, clock_hz(parameters_, engine));
  agents_[e] =
      std::make_unique<Agent>(simulation_, path, agent_port_base + agent_ports * core + static_cast<unsigned>(engine));
  monitors_[e] = std::make_unique<EngineMonitor>(simulation_, path, *clocks_[e]);
  const unsigned port = agents_[e]->port();
  if (engine == Engine::pe || engine == Engine::scalar || engine == Engine::vector)
    for (unsigned b = 0; b < psum_banks; ++b) psum_.bank(b).add_requester(port);
  if (shared_.vector_gpsimd_sbuf && (engine == Engine::vector || engine == Engine::gpsimd))
    shared_.vector_gpsimd_sbuf->add_requester(port);
  if (shared_.vector_scalar_psum && (engine == Engine::vector || engine == Engine::scalar))
    shared_.vector_scalar_psum->add_requester(port);
  if (engine == Engine::pe)
    pe_ = std::make_unique<PeArray>("pe", context_of(engine), parameters_.pe, parameters_.generation, shared_);
  else if (engine != Engine::sync)
    tile_engines_[e] =
        std::make_unique<TileEngine>(neuroncore::name(engine), context_of(engine),
                                     tile_engine_parameters(parameters_, engine), parameters_.generation, shared_);
}

const ExecutionUnit* NeuronCore::unit(Engine engine) const {
  if (engine == Engine::pe) return pe_.get();
  return tile_engines_[index_of(engine)].get();
}

void NeuronCore::build_sequencer(Engine engine) {
  const std::size_t e = index_of(engine);
  ExecutionUnit* const executes =
      engine == Engine::pe ? static_cast<ExecutionUnit*>(pe_.get()) : tile_engines_[e].get();
  const LegalityLimits limits{parameters_.generation, sbuf_.usable_bytes()};
  sequencers_[e] = std::make_unique<Sequencer>((std::string(neuroncore::name(engine)) + "_sequencer").c_str(),
                                               context_of(engine), executes, parameters_.sequencer, limits,
                                               [this, e] { ended(static_cast<unsigned>(e)); });
}

void NeuronCore::bind_memories() {
  pe_->sbuf.socket.bind(sbuf_.tiles);
  pe_->psum.socket.bind(psum_.tiles);
  for (const auto& engine : tile_engines_) {
    if (!engine) continue;
    engine->sbuf.socket.bind(sbuf_.tiles);
    if (engine->psum) engine->psum->socket.bind(psum_.tiles);
  }
}

void NeuronCore::connect_dma(DmaTrigger& dma, std::uint32_t engine_count, std::uint32_t queues) {
  state_->dma = &dma;
  state_->dma_engines = engine_count;
  state_->dma_queues = queues;
  for (const auto& sequencer : sequencers_) sequencer->connect(dma);
}

void NeuronCore::watch(RaceDetector& races) {
  semaphores_.watch(races);
  sbuf_.watch(races);
  psum_.watch(races);
}

void NeuronCore::observe(InstructionObserver& observer) {
  for (const auto& monitor : monitors_) monitor->observe(&observer);
}

void NeuronCore::ended(unsigned engine) {
  const Sequencer::Status status = sequencers_[engine]->status();
  if (status == Sequencer::Status::halted) registers_->set_interrupt(engine);
  if (status == Sequencer::Status::faulted) registers_->set_interrupt(registers::fault_interrupt_shift + engine);
  update_interrupt();
  if (state_->resetting) finish_reset();
}

// A granted begin and end never move: engines and banks stay occupied for as long as they were granted, but nothing
// that has not taken effect yet ever does. Bytes of SBUF and PSUM stay.
void NeuronCore::reset() {
  state_->resetting = true;
  for (const auto& sequencer : sequencers_) sequencer->stop();
  finish_reset();
}

void NeuronCore::finish_reset() {
  for (const auto& sequencer : sequencers_)
    if (sequencer->status() == Sequencer::Status::running) return;
  state_->resetting = false;
  for (const auto& sequencer : sequencers_) sequencer->reset();
  semaphores_.reset();
  if (semaphores_.races() != nullptr) semaphores_.races()->core_was_reset();
  psum_.close_groups();
  pe_->forget_stationary();
  registers_->clear_interrupts();
  update_interrupt();
}

void NeuronCore::update_interrupt() {
  const bool level = registers_->interrupt_pending();
  if (level == interrupt_level_) return;
  interrupt_level_ = level;
  if (interrupt_) interrupt_(level);
}

}  // namespace tilevp::neuroncore
