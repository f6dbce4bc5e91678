// Calls what the command does not have.
extern "C" {
void tilevp_function_of_another_version();
void tilevp_caller() { tilevp_function_of_another_version(); }
}
