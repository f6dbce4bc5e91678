#include "tilevp/neuron/conv2d/request.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>

#include "tilevp/base/errors.hpp"

namespace tilevp::neuron::conv2d {
namespace {

void read_layouts(const runtime::OptionValues& options, Layouts& layouts) {
  layouts.image = parse_image_layout("--image-layout", options.text("image-layout"));
  layouts.filter = parse_filter_layout("--filter-layout", options.text("filter-layout"));
  layouts.output = parse_output_layout("--output-layout", options.text("output-layout"));
}

void read_steps(const runtime::OptionValues& options, Problem& p) {
  const auto strides = options.integers("stride", 2);
  const auto dilation = options.integers("dilation", 2);
  const auto padding = options.integers("padding", 4);
  const auto image_dilation = options.integers("image-dilation", 2);
  p.image_dilation_h = image_dilation[0];
  p.image_dilation_w = image_dilation[1];
  p.stride_h = strides[0];
  p.stride_w = strides[1];
  p.dilation_h = dilation[0];
  p.dilation_w = dilation[1];
  p.top = padding[0];
  p.bottom = padding[1];
  p.left = padding[2];
  p.right = padding[3];
  for (const std::int64_t pad : padding)
    if (pad < -1'000'000 || pad > 1'000'000)
      throw UserError("--padding", "expected -1000000 to 1000000, found " + std::to_string(pad));
  for (const auto& [name, values] : {std::pair{"--stride", strides}, std::pair{"--dilation", dilation},
                                     std::pair{"--image-dilation", image_dilation}})
    for (const std::int64_t value : values)
      if (value < 1 || value > 1'000'000)
        throw UserError(name, "expected 1 to 1000000, found " + std::to_string(value));
}

void read_groups(const runtime::OptionValues& options, Problem& p) {
  p.groups = options.integer("groups", 1, 1 << 20);
  p.batch_groups = options.integer("batch-groups", 1, 1 << 20);
}

// "default or conv2d_..., stride or ..."
std::string known_variants() {
  std::string list = "auto";
  for (const VariantInfo& info : variants()) list += ", " + std::string(info.name);
  return list;
}

std::string groups_taken() {
  std::string list;
  for (const VariantInfo& info : variants()) {
    if (!list.empty()) list += "; ";
    list += std::string(info.takes) + " (" + std::string(info.name) + ")";
  }
  return list;
}

// Why none of a dispatcher's variants takes the problem.
std::string refusals(const PlanRequest& plan, const std::string& dispatcher) {
  std::string list;
  for (const VariantInfo& info : variants())
    if (boost::algorithm::iequals(info.dispatcher, dispatcher))
      list += (list.empty() ? "" : "; ") + std::string(info.name) + ": " + info.refusal(plan);
  return list;
}

void choose_variant(const runtime::OptionValues& options, Request& request) {
  const PlanRequest& plan = request.plan;
  const Problem& p = plan.problem;
  const std::string text = options.text("variant");
  const ImageLayout image = plan.layouts.image;
  if (p.groups == 1 && (p.stride_h > 1 || p.stride_w > 1) && !takes_strides(image))
    throw UserError(
        "--image-layout " + std::string(name(image)),
        "unsupported perm with strides: --stride " + options.text("stride") + " needs --image-layout chwn or cnhw");
  if (text == "auto") {
    request.variant = select_variant(plan);
    const std::string dilation =
        p.dilates_image() ? " with image dilation " + options.text("image-dilation") + ", which depthwise2d takes" : "";
    if (request.variant == nullptr)
      throw UserError("conv2d", "no variant takes N " + std::to_string(p.N) + ", C " + std::to_string(p.C) + ", O " +
                                    std::to_string(p.O) + " in " + std::to_string(p.groups) + " groups and " +
                                    std::to_string(p.batch_groups) + " batch groups" + dilation + "; they take " +
                                    groups_taken());
    return;
  }
  if (is_dispatcher(text)) {
    request.variant = select_variant(plan, text);
    if (request.variant == nullptr) throw UserError("--variant " + text, "refused: " + refusals(plan, text));
    return;
  }
  request.variant = find_variant(text);
  if (request.variant == nullptr)
    throw UserError("--variant",
                    "expected " + known_variants() + " or a full name ('tilevp list variants'), found '" + text + "'");
  if (const std::string reason = request.variant->refusal(plan); !reason.empty())
    throw UserError("--variant " + text, reason);
}

void set_image_shape(Problem& p, const Sizes& nchw) { p.N = nchw[0], p.C = nchw[1], p.H = nchw[2], p.W = nchw[3]; }

Sizes sizes_of(const std::vector<std::int64_t>& shape) { return {shape[0], shape[1], shape[2], shape[3]}; }

std::string option_of(ImageLayout layout) { return "--image-layout " + std::string(name(layout)); }

// Says how the image was read, and which other layouts would fit.
void expect_channels(const runtime::OptionValues& options, const PlanRequest& plan, const Sizes& image,
                     std::int64_t channels) {
  const Problem& p = plan.problem;
  if (p.C == channels * p.groups) return;
  const ImageLayout layout = plan.layouts.image;
  const std::string sizes = std::to_string(image[0]) + ", " + std::to_string(image[1]) + ", " +
                            std::to_string(image[2]) + ", " + std::to_string(image[3]);
  std::string text = options.text("input") + " (" + sizes + ") read as " + std::string(axes(layout)) + " (" +
                     option_of(layout) + ") has " + std::to_string(p.C) + " channels, " + options.text("weights") +
                     " (" + std::string(axes(plan.layouts.filter)) + ") has " + std::to_string(channels);
  if (p.groups > 1) text += " in each of " + std::to_string(p.groups) + " groups";
  std::string fitting;
  for (const ImageLayout other : {ImageLayout::chwn, ImageLayout::nchw, ImageLayout::cnhw, ImageLayout::nhwc})
    if (logical_sizes(image, permutation(other))[1] == channels * p.groups &&
        (takes_strides(other) || (p.stride_h == 1 && p.stride_w == 1)))
      fitting += (fitting.empty() ? "" : " or ") + std::string(name(other));
  if (!fitting.empty()) text += "; --image-layout " + fitting + " would fit";
  throw UserError("--input", text);
}

void read_files(const runtime::OptionValues& options, Request& request) {
  PlanRequest& plan = request.plan;
  Problem& p = plan.problem;
  auto image = file_operand("--input", options.text("input"), std::string(axes(plan.layouts.image)), plan.dtype,
                            request.warnings);
  auto filter = file_operand("--weights", options.text("weights"), std::string(axes(plan.layouts.filter)), plan.dtype,
                             request.warnings);
  set_image_shape(p, logical_sizes(sizes_of(image.shape), permutation(plan.layouts.image)));
  const Sizes ochw = logical_sizes(sizes_of(filter.shape), permutation(plan.layouts.filter));
  expect_channels(options, plan, sizes_of(image.shape), ochw[1]);
  p.O = ochw[0];
  p.Hf = ochw[2];
  p.Wf = ochw[3];
  request.image = std::move(image.bytes);
  request.filter = std::move(filter.bytes);
}

void read_shapes(const runtime::OptionValues& options, Problem& p) {
  const auto image = options.integers("shape", 4);
  const auto filter = options.integers("filter", 3);
  set_image_shape(p, sizes_of(image));
  p.O = filter[0];
  p.Hf = filter[1];
  p.Wf = filter[2];
  constexpr std::int64_t most = 1 << 20;
  for (const auto& [name, values] : {std::pair{"--shape", image}, std::pair{"--filter", filter}})
    for (const std::int64_t value : values)
      if (value < 1 || value > most)
        throw UserError(name, "expected sizes from 1 to " + std::to_string(most) + ", found " + std::to_string(value));
}

// Tensors are addressed with 64 bits but made in the host's memory: 64 GiB is beyond any machine described here.
void expect_possible(const Problem& p) {
  constexpr double most = 64.0 * 1024 * 1024 * 1024;
  const auto bytes = [](std::initializer_list<std::int64_t> sizes) {
    double total = 4;
    for (const std::int64_t size : sizes) total *= static_cast<double>(size);
    return total;
  };
  const std::array<std::pair<const char*, double>, 3> tensors{
      {{"the image", bytes({p.N, p.C, p.H, p.W})},
       {"the filter", bytes({p.filter_channels(), p.Hf, p.Wf, p.O})},
       {"the output", bytes({p.output_images(), p.O, p.K0(), p.K1()})}}};
  for (const auto& [what, size] : tensors)
    if (size > most) throw UserError("conv2d", std::string(what) + " would be larger than 64 GiB");
}

std::size_t image_elements(const Problem& p) { return static_cast<std::size_t>(p.N * p.C * p.H * p.W); }
std::size_t filter_elements(const Problem& p) {
  return static_cast<std::size_t>(p.filter_channels() * p.Hf * p.Wf * p.O);
}

}  // namespace

std::uint64_t Request::image_bytes() const { return image_elements(plan.problem) * numeric::size_bytes(plan.dtype); }

std::uint64_t Request::filter_bytes() const { return filter_elements(plan.problem) * numeric::size_bytes(plan.dtype); }

void Request::draw(std::uint64_t seed) {
  if (!image.empty()) return;
  image = random_operand(random, plan.dtype, image_elements(plan.problem), seed, "image");
  filter = random_operand(random, plan.dtype, filter_elements(plan.problem), seed, "filter");
}

std::vector<runtime::OptionDescription> option_descriptions() {
  return {
      {"input", "FILE", "", "image (.npy), axes in the order of --image-layout"},
      {"weights", "FILE", "", "filter (.npy), axes in the order of --filter-layout"},
      {"output", "FILE", "", "result (.npy, fp32), axes in the order of --output-layout"},
      {"shape", "N,C,H,W", "", "a random image of this size, with --filter and --random, instead of files"},
      {"filter", "O,Hf,Wf", "", "filters, their rows and columns"},
      {"random", "integers|normal", "integers", "values: whole numbers from -4 to 4, or normal"},
      {"stride", "H,W", "1,1", "output step in rows and columns"},
      {"padding", "TOP,BOTTOM,LEFT,RIGHT", "0,0,0,0", "rows and columns of zeros; below 0 crops the image"},
      {"dilation", "H,W", "1,1", "distance of neighbouring filter rows and columns"},
      {"image-dilation", "H,W", "1,1", "distance of neighbouring image rows and columns, zeros between them"},
      {"groups", "NUMBER", "1", "groups of channels: a filter sees the channels of its own"},
      {"batch-groups", "NUMBER", "1", "groups of images: a filter sees the images of its own"},
      {"dtype", "bf16|fp16|fp32", "bf16", "element type of image and filter"},
      {"variant", "auto|NAME", "auto", "how the work is cut: a name or full name of 'tilevp list variants'"},
      {"image-layout", "chwn|nchw|cnhw|nhwc", "chwn",
       "order of the image's axes in memory, slowest first, or its permutation (3,0,1,2)"},
      {"filter-layout", "chwo|ohwc|ochw|cohw|cowh", "chwo", "order of the filter's axes"},
      {"output-layout", "nchw|ohwn|hwno", "nchw", "order of the output's axes"},
  };
}

Request read_request(const runtime::OptionValues& options) {
  Request request;
  PlanRequest& plan = request.plan;
  plan.dtype = parse_matmul_dtype(options.text("dtype"));
  read_layouts(options, plan.layouts);
  read_steps(options, plan.problem);
  read_groups(options, plan.problem);
  const bool files = options.has("input") || options.has("weights");
  const bool shapes = options.has("shape") || options.has("filter");
  if (files == shapes) throw UserError("conv2d", "expected either --input and --weights, or --shape and --filter");
  for (const char* option : files ? std::array{"input", "weights"} : std::array{"shape", "filter"})
    if (!options.has(option)) throw UserError("--" + std::string(option), "is missing");
  request.random = parse_random("--random", options.text("random"));
  if (files)
    read_files(options, request);
  else
    read_shapes(options, plan.problem);
  const Problem& p = plan.problem;
  p.check();
  expect_possible(p);
  choose_variant(options, request);
  request.output_file = options.text("output");
  return request;
}

}  // namespace tilevp::neuron::conv2d
