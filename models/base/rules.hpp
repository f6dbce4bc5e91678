#pragma once
// What the machine forbids or leaves undefined, one row a rule: each model has a table. Breaking a rule ends the run
// with a Fault of its id.
namespace tilevp {

struct Rule {
  const char* id;
  const char* text;
  const char* source;
};

}  // namespace tilevp
