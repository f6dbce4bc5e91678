#pragma once
// A JSON tree held against a JSON Schema, as far as ours go: type, enum, const, properties, required,
// additionalProperties (false or a schema), items, minimum, $ref into $defs. Any other keyword that constrains is a
// Defect.
#include <boost/json/value.hpp>
#include <string>

namespace tilevp::platform {

// Throws UserError at `file`: key path, what is expected and what was found.
void validate(const boost::json::value& tree, const boost::json::value& schema, const std::string& file);

// The schema of reports (docs/schema/report.schema.json), which is part of the program.
const boost::json::value& report_schema_json();

// As validate, for a report.
void check_report(const boost::json::value& tree, const std::string& file);

}  // namespace tilevp::platform
