// A platform description: JSON text to typed structs, checked. What is accepted survives being written and read again.
#include "tilevp/platform/description.hpp"
#include "fuzz/target.hpp"
#include "tilevp/described/text.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilevp;
  platform::Description description;
  const bool good = fuzz::accepted([&] {
    auto document = described::Document::from_text("input.json", fuzz::as_text(data, size));
    description = document.read<platform::Description>();
  });
  if (!good) return 0;
  const auto tree = described::to_json(description);
  auto again = described::Document::from_text("again.json", described::compact(tree));
  fuzz::require(described::to_json(again.read<platform::Description>()) == tree,
                "a description is what it was written as");
  return 0;
}
