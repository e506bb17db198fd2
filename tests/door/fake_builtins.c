/* A libnvrtc-builtins that is none: the door looks for its file, and nobody calls it. */
__attribute__((visibility("default"))) extern const int fake_builtins;
const int fake_builtins = 1;
