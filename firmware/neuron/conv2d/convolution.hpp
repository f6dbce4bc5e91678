#pragma once
// One convolution cut up by one variant of the family: what the program runs.
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tilevp/neuron/conv2d/plan.hpp"
#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron::conv2d {

// Room in HBM under a name, in bytes; gives the address.
using Allocate = std::function<std::uint64_t(const std::string& name, std::uint64_t bytes)>;

// Where the user's tensors lie, and what the host fills with zeros (address, bytes).
struct Places {
  std::uint64_t image = 0;
  std::uint64_t filter = 0;
  std::uint64_t output = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> zeros{};
};

// How the result is recomputed on the host: in fp32 and the machine's order of accumulation, to the bit; or in double.
enum class Accuracy : std::uint8_t { in_order, in_double };

class Convolution {
 public:
  virtual ~Convolution() = default;
  // How the work is cut; the text of `tilevp describe program`.
  virtual std::string text() const = 0;
  // Makes room for the tensors and for what the kernel needs beside them. Once, before emit().
  virtual Places place(const Allocate& allocate) = 0;
  // Appends it to the kernel's trace. UserError where it does not fit SBUF, with who holds what.
  virtual void emit(Kernel& kernel) = 0;
  // Work that emit() wrote down: of the convolution by the plan's loops, of transposes as they were emitted.
  virtual Prediction prediction() const = 0;
  // Image and filter as the user gives them; the result as the user gets it.
  virtual std::vector<float> reference(Accuracy accuracy, std::span<const std::byte> image,
                                       std::span<const std::byte> filter) const = 0;
  // Further entries of the report's `result`, after emit().
  virtual boost::json::object figures() const { return {}; }
};

}  // namespace tilevp::neuron::conv2d
