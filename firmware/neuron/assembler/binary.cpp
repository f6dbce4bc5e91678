#include <cstring>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/registers.hpp"
#include "tilevp/neuron/assembler/listing.hpp"

namespace tilevp::neuron::assembler {
namespace {

constexpr std::string_view magic{"TILEVPNC", 8};
constexpr std::uint32_t version = 1;
enum Kind : std::uint32_t { stream = 0, ring = 1, data = 2 };
constexpr unsigned max_dma_engines = 256;

struct Head {
  std::uint32_t kind = stream;
  std::uint16_t engine = 0;
  std::uint16_t queue = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Head) == 24);

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
  }
  template <class T>
  void section(Head head, const std::vector<T>& items) {
    head.bytes = items.size() * sizeof(T);
    put(head);
    const auto* first = reinterpret_cast<const char*>(items.data());
    out_.append(first, first + head.bytes);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  Reader(const std::string& name, std::string_view file) : name_(name), rest_(file) {}
  template <class T>
  T take(const char* what) {
    T value;
    std::memcpy(&value, piece(sizeof(T), what).data(), sizeof(T));
    return value;
  }
  template <class T>
  void append(std::vector<T>& items, std::uint64_t bytes, const char* what) {
    if (bytes % sizeof(T) != 0)
      fail(std::string(what) + ": expected a multiple of " + std::to_string(sizeof(T)) + " bytes, found " +
           std::to_string(bytes));
    const auto from = piece(bytes, what);
    const std::size_t before = items.size();
    items.resize(before + bytes / sizeof(T));
    if (bytes > 0) std::memcpy(items.data() + before, from.data(), bytes);
  }
  [[noreturn]] void fail(const std::string& what) const { throw UserError(name_, what); }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view piece(std::uint64_t bytes, const char* what) {
    if (bytes > rest_.size())
      fail(std::string(what) + ": expected " + std::to_string(bytes) + " bytes, found " + std::to_string(rest_.size()) +
           " to the end of the file");
    const auto result = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return result;
  }
  const std::string& name_;
  std::string_view rest_;
};

void take_section(Reader& reader, Listing& listing) {
  const auto head = reader.take<Head>("section head");
  switch (head.kind) {
    case stream:
      if (head.engine >= neuroncore::engines)
        reader.fail("stream: expected an engine from 0 to 4, found " + std::to_string(head.engine));
      return reader.append(listing.streams[head.engine], head.bytes, "stream");
    case ring: {
      if (head.engine >= max_dma_engines || head.queue >= dma::registers::queues)
        reader.fail("ring: expected queue 0 to 15 and DMA engine 0 to 255, found " + std::to_string(head.queue) +
                    " and " + std::to_string(head.engine));
      const RingId id{static_cast<std::uint8_t>(head.queue), static_cast<std::uint8_t>(head.engine)};
      return reader.append(listing.rings[id], head.bytes, "ring");
    }
    case data:
      if (head.bytes > 0 && head.bytes - 1 > UINT64_MAX - head.address)
        reader.fail("data: " + std::to_string(head.bytes) + " bytes from " + std::to_string(head.address) +
                    " leave the addresses of 64 bits");
      listing.data.push_back({head.address, {}});
      return reader.append(listing.data.back().bytes, head.bytes, "data");
    default:
      reader.fail("expected a section of kind 0, 1 or 2, found " + std::to_string(head.kind));
  }
}

}  // namespace

std::string to_binary(const Listing& listing) {
  std::uint32_t sections = static_cast<std::uint32_t>(listing.rings.size() + listing.data.size());
  for (const auto& records : listing.streams) sections += records.empty() ? 0 : 1;
  Writer out;
  for (const char c : magic) out.put(c);
  out.put(version);
  out.put(sections);
  for (std::uint16_t e = 0; e < neuroncore::engines; ++e)
    if (!listing.streams[e].empty()) out.section({.kind = stream, .engine = e}, listing.streams[e]);
  for (const auto& [id, records] : listing.rings)
    out.section({.kind = ring, .engine = id.second, .queue = id.first}, records);
  for (const auto& block : listing.data) out.section({.kind = data, .address = block.address}, block.bytes);
  return out.take();
}

bool is_binary(std::string_view file) { return file.starts_with(magic); }

Listing from_binary(const std::string& name, std::string_view file) {
  if (!is_binary(file)) throw UserError(name, "expected a program of tilevp asm; its first bytes are others");
  Reader reader(name, file.substr(magic.size()));
  if (const auto found = reader.take<std::uint32_t>("version"); found != version)
    reader.fail("expected version " + std::to_string(version) + ", found " + std::to_string(found));
  Listing listing;
  for (auto sections = reader.take<std::uint32_t>("count of sections"); sections > 0; --sections)
    take_section(reader, listing);
  if (!reader.at_end()) reader.fail("bytes follow the last section");
  return listing;
}

}  // namespace tilevp::neuron::assembler
