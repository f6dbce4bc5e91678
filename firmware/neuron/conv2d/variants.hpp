#pragma once
// The variants of the convolution family, in one table: which problems each takes, and who cuts the work.
//
// The table is in the order of selection: `--variant auto` takes the first entry that neither refuses nor is passed
// over. Names and order are those of the kernels that AWS's compiler selects among (GrigoryEvko/nvopen-tools, public
// reverse engineering of neuronx_cc, pages on conv lowering).
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/neuron/conv2d/convolution.hpp"

namespace tilevp::neuron::conv2d {

struct VariantInfo {
  std::string_view name;       // "default"
  std::string_view full_name;  // "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_default"
  std::string_view summary;
  std::string_view takes;  // the groups it is for: "groups = C = O, N 1"
  // Why it cannot take the problem, with the numbers; empty: it can. PlanRequest::variant plays no part.
  std::string refusal(const PlanRequest& request) const;
  std::string (*refuse)(const PlanRequest& request);  // but for what the fields below say
  // Why `auto` passes it over though it could; empty: it does not.
  std::string (*passed_over)(const PlanRequest& request);
  std::unique_ptr<Convolution> (*make)(const PlanRequest& request, const Machine& machine);
  bool dilates_images = false;  // takes images with zeros between their pixels
  // The kernel that chooses among several: "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh" has "default" and "stride".
  std::string_view dispatcher{};
};

std::span<const VariantInfo> variants();

// Of "default" or its full name, whatever the case of letters; nullptr: nobody's.
const VariantInfo* find_variant(std::string_view name);
bool is_dispatcher(std::string_view name);
// What `auto` takes, or of a dispatcher's variants the one that it calls; nullptr: nobody takes it.
const VariantInfo* select_variant(const PlanRequest& request, std::string_view dispatcher = {});
// Each variant on a line: whether it takes the problem, and why not.
std::string selection_text(const PlanRequest& request, const VariantInfo& taken);

// What the tokens of a full name mean, a line each: "fb01  image C, N, H, W".
std::vector<std::string> decoded(std::string_view full_name);

}  // namespace tilevp::neuron::conv2d
