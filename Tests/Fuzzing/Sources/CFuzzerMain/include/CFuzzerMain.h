// The package manager makes `main` an alias of this function.
int Fuzzers_main(int argc, char **argv);
