// The SystemC library calls it from a main of its own; no simulation runs in a fuzz test.
extern "C" int sc_main(int argc, char* argv[]);
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }
