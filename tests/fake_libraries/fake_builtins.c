/* Stands in for libnvrtc-builtins in the tests of the library search, which looks for the file. Nothing calls it. */
__attribute__((visibility("default"))) extern const int fake_builtins;
const int fake_builtins = 1;
