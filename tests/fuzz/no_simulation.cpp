// SystemC's library asks for it; libFuzzer has the main function, and no target simulates.
extern "C" int sc_main(int, char**) { return 0; }
