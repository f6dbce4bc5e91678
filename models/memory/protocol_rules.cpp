#include "tilevp/memory/protocol_rules.hpp"

#include <array>

namespace tilevp::memory {
namespace {

constexpr char phases[] = "IEEE 1666-2011, 15.2.3: base protocol phase sequences";
constexpr char order[] = "IEEE 1666-2011, 15.2.4: permitted phase transitions";
constexpr char exclusion[] = "IEEE 1666-2011, 15.2.6: exclusion rules";
constexpr char payload[] = "IEEE 1666-2011, 14.7 to 14.17: generic payload attributes";
constexpr char memory[] = "IEEE 1666-2011, 14.5: generic payload memory management";
constexpr char time[] = "IEEE 1666-2011, 15.2.7: base protocol timing annotation";
constexpr char switching[] = "IEEE 1666-2011, 15.2.10: switching between b_transport and nb_transport";
constexpr char blocking[] = "IEEE 1666-2011, 11.1.1: blocking transport interface";
constexpr char nonblocking[] = "IEEE 1666-2011, 11.1.2: non-blocking transport interface";
constexpr char direct[] = "IEEE 1666-2011, 11.2: direct memory interface";
constexpr char debugging[] = "IEEE 1666-2011, 11.3: debug transport interface";

constexpr std::array table{
    Rule{rule::phase_path, "BEGIN_REQ and END_RESP go forward, END_REQ and BEGIN_RESP backward.", phases},
    Rule{rule::phase_order, "The phases of a transaction follow each other; END_REQ may be left out.", order},
    Rule{rule::request_exclusion, "A socket sends no BEGIN_REQ before the last one has its END_REQ or response.",
         exclusion},
    Rule{rule::response_exclusion, "A socket sends no BEGIN_RESP before the last one has its END_RESP.", exclusion},
    Rule{rule::initial_attributes,
         "A request has data, a length, a streaming width, a length of its byte enables where it has some, and no DMI "
         "hint.",
         payload},
    Rule{rule::initial_status, "A request starts with TLM_INCOMPLETE_RESPONSE.", payload},
    Rule{rule::response_status, "A response has a status, and the status stays to the end of the transaction.",
         payload},
    Rule{rule::attributes,
         "Command, data pointer, length, byte enables and streaming width stay as they are until the end.", payload},
    Rule{rule::memory_manager, "A non-blocking transaction has a memory manager.", memory},
    Rule{rule::lifetime, "A transaction with a memory manager is held by somebody while it is under way.", memory},
    Rule{rule::timing, "The time of a transaction, now plus its annotated delay, never goes back.", time},
    Rule{rule::mixing, "A transaction is under way by b_transport or by nb_transport, not by both.", switching},
    Rule{rule::blocking_context, "b_transport is called from a thread, never from a method process.", blocking},
    Rule{rule::recursion, "A call on the forward path leads to none on the backward path, nor the reverse.",
         nonblocking},
    Rule{rule::nonblocking_wait, "nb_transport returns without waiting.", nonblocking},
    Rule{rule::dmi, "A DMI grant has a pointer, an access and a range that holds the address asked for.", direct},
    Rule{rule::debug, "Debug transport has data where it has a length, and moves no more than that.", debugging},
};

}  // namespace

std::span<const Rule> protocol_rules() { return table; }

}  // namespace tilevp::memory
