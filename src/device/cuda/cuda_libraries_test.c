/* The searches for CUDA's libraries, against fake libraries (tests/fake_libraries). Every case is a process of its own,
 * with its own environment and folder, since a search is made once per process. The child prints what it finds, and the
 * parent looks for words in the output. */
#include "device/cuda/toolkit_search.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char self[PATH_MAX], folder[] = "/tmp/leat_door_XXXXXX";
static char said[1 << 16];

/* ---- the child: prints a search */

static void print_search(const struct le_search *search) {
    printf("found %d version %d path %s\nreason %s\n", search->found, search->version, search->path, search->reason);
    for (int k = 0; k < search->line_count; k++)
        printf("%s | %s | %s\n", search->lines[k].name, search->lines[k].path, search->lines[k].outcome);
}

static int print_driver(void) {
    const struct le_cuda_driver *driver;
    int version, count = 0;
    print_search(le_cuda_library_search(LE_LIBRARY_DRIVER));
    if (le_cuda_driver_open(&driver, &version)) {
        leat_error error;
        leat_error_get(NULL, &error);
        printf("failed %s: %s\n", leat_status_name(error.code), error.message);
        return 0;
    }
    printf("optional %d\n", driver->FuncGetParamInfo != NULL);
    if (le_cuda_facts_count(driver, &count))
        return 1;
    for (int k = 0; k < count; k++) {
        struct le_cuda_facts facts;
        if (le_cuda_facts_get(driver, k, &facts))
            return 1;
        printf("device %d %s %s %s capability %d memory %zu units %d ratio %d usable %d %s\n", k, facts.name,
               facts.uuid, facts.pci_id, facts.capability, facts.memory_bytes, facts.multiprocessors, facts.f64_ratio,
               facts.usable, facts.reason);
    }
    struct le_cuda_facts facts;
    printf("one more: %s\n", leat_status_name(le_cuda_facts_get(driver, count, &facts)));
    fflush(stdout);
    if (fork() == 0) {
        printf("in a child: %s\n", leat_status_name(le_cuda_driver_open(&driver, &version)));
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    return 0;
}

static int print_nvrtc(void) {
    const struct le_nvrtc *nvrtc;
    int version;
    print_search(le_cuda_library_search(LE_LIBRARY_NVRTC));
    printf("open %s\n", leat_status_name(le_nvrtc_open(&nvrtc, &version)));
    return 0;
}

static int print_headers(void) {
    print_search(le_cuda_library_search(LE_LIBRARY_HEADERS));
    const char *include = le_cuda_include_folder();
    printf("include %s\n", include ? include : "none");
    return 0;
}

static int print_products(void) {
    const struct le_cublas *cublas = NULL, *again = NULL;
    for (int k = 0; k < 2; k++) {
        leat_error error = {0};
        leat_status status = le_cublas_open(k ? &again : &cublas);
        if (status)
            leat_error_get(NULL, &error);
        printf("open %s: %s\n", leat_status_name(status), status ? error.message : "");
    }
    printf("same %d calls %d\n", cublas == again, cublas ? cublas->SetWorkspace(NULL, NULL, 0) : -1);
    return 0;
}

static int run_child(const char *what) {
    if (getenv("LOADED")) /* by soname, as another library in the process would load it */
        dlopen(getenv("LOADED"), RTLD_LAZY);
    if (strcmp(what, "driver") == 0)
        return print_driver();
    if (strcmp(what, "nvrtc") == 0)
        return print_nvrtc();
    if (strcmp(what, "headers") == 0)
        return print_headers();
    print_search(le_cuda_library_search(LE_LIBRARY_CUBLAS));
    return strcmp(what, "cublas") == 0 ? 0 : print_products();
}

/* ---- the parent */

/* Runs a line of shell in the scratch folder; $F is the folder of the fakes. */
static void run_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run_shell(const char *format, ...) {
    char line[4096], command[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    snprintf(command, sizeof command, "F='%s' && cd '%s' && %s", FAKE_LIBRARIES, folder, line);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

/* Runs a child in the scratch folder; environment: "NAME=value ..." as a shell takes it. */
static void run_case(const char *what, const char *environment) {
    char command[8192];
    snprintf(command, sizeof command,
             "cd '%s' && env -u LEAT_CUDA_PATH -u CUDA_PATH -u VIRTUAL_ENV -u CONDA_PREFIX -u CUDA_VISIBLE_DEVICES "
             "-u LD_LIBRARY_PATH %s %s '%s' --child %s 2>&1",
             folder, environment, FAKE_LIBRARIES_EMULATOR, self, what);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = 0;
    int code = pclose(pipe);
    if (code != 0)
        fail_msg("%s: exit status %d: %s", command, code, said);
}

static void expect(const char *text) {
    if (!strstr(said, text))
        fail_msg("no \"%s\" in:\n%s", text, said);
}

static void expect_not(const char *text) {
    if (strstr(said, text))
        fail_msg("\"%s\" in:\n%s", text, said);
}

static int fresh_folder(void **state) {
    (void)state;
    run_shell("rm -rf ./* && mkdir driver broken && ln -s $F/fake_driver.so driver/libcuda.so.1 && "
              "for k in 12 13 14 15 16 17 18 19; do echo no library >broken/libnvrtc.so.$k; done");
    return 0;
}

/* ---- the driver */

static void driver_opens(void **state) {
    (void)state;
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_COUNT=2");
    expect("found 1 version 12040");
    expect("/driver/libcuda.so.1 | found, CUDA 12.4");
    expect("cuInit |  | done");
    expect("optional 1");
    expect(
        "device 0 Fake 40 GPU-28282828-2828-2828-2828-282828282828 0000:28:00.0 capability 90 memory 42949672960 units "
        "132 ratio 2 usable 1");
    expect("device 1 Fake 41 GPU-29292929");
    expect("one more: device error");
    expect("in a child: device error");
}

static void driver_with_the_first_entry_alone(void **state) {
    (void)state;
    run_shell("ln -sf $F/fake_driver_1.so driver/libcuda.so.1");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver");
    expect("found 1 version 12040");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_MISSING=cuLaunchKernel");
    expect("lacks cuLaunchKernel of CUDA 4.0");
}

static void driver_without_an_entry(void **state) {
    (void)state;
    run_shell("ln -sf $F/fake_driver_0.so driver/libcuda.so.1");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver");
    expect("lacks cuGetProcAddress");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_VERSION=11020");
    expect("driver too old: CUDA 11.2; CUDA 12.0 (driver 525) or later is needed");
}

static void driver_too_old(void **state) {
    (void)state;
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_VERSION=11040");
    expect("found 0");
    expect("failed device error: driver too old: CUDA 11.4; CUDA 12.0 (driver 525) or later is needed");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_VERSION=12000");
    expect("found 1 version 12000");
}

static void driver_is_a_stub(void **state) {
    (void)state;
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_STUB=1");
    expect("libcuda.so.1 is a toolkit's stub");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=34");
    expect("libcuda.so.1 is a toolkit's stub");
}

static void driver_lacks_a_symbol(void **state) {
    (void)state;
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_MISSING=cuMemAlloc");
    expect("found 0");
    expect("failed device error: the driver's libcuda.so.1 lacks cuMemAlloc of CUDA 3.2");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_MISSING=cuFuncGetParamInfo");
    expect("found 1");
    expect("missing as of CUDA 12.4 (not required)");
    expect("optional 0");
}

static void driver_does_not_start(void **state) {
    (void)state;
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=304");
    expect("the CUDA driver failed to initialize: OS call failed or operation not supported on this OS "
           "(CUDA_ERROR_OPERATING_SYSTEM, 304)");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=803");
    expect("have different versions: reboot");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=12345");
    expect("the CUDA driver failed to initialize: unknown error (no name, 12345)");
}

static void driver_without_devices(void **state) {
    (void)state;
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=100");
    expect("failed device error: there is a CUDA driver, but no CUDA device");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_COUNT=0");
    expect("failed device error: there is a CUDA driver, but no CUDA device");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=100 CUDA_VISIBLE_DEVICES=0,gpu1");
    expect("failed device error: no CUDA device is visible: CUDA_VISIBLE_DEVICES is malformed: item 2, \"gpu1\"");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=100 CUDA_VISIBLE_DEVICES=7");
    expect("failed device error: no CUDA device is visible: CUDA_VISIBLE_DEVICES is \"7\"");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=100 CUDA_VISIBLE_DEVICES=");
    expect("CUDA_VISIBLE_DEVICES |  | hides every device");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_INIT=101 CUDA_VISIBLE_DEVICES=0,0");
    expect("failed device error: no CUDA device is visible: CUDA_VISIBLE_DEVICES is malformed: item 2, \"0\", is "
           "repeated");
    /* a malformed list may still show the devices before its fault */
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver CUDA_VISIBLE_DEVICES=0,,1");
    expect("found 1");
    expect("CUDA_VISIBLE_DEVICES | 0,,1 | malformed: item 2 is empty");
}

static void devices_that_are_not_usable(void **state) {
    (void)state;
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_CAPABILITY=70");
    expect("usable 0 compute capability 7.0; 7.5 or higher is needed");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_CAPABILITY=75");
    expect("usable 1");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver FAKE_MODE=2");
    expect("usable 0 its compute mode is \"prohibited\"");
}

static void driver_that_is_no_library(void **state) {
    (void)state;
    run_shell("rm driver/libcuda.so.1 && echo no library >driver/libcuda.so.1");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver");
    expect("failed device error: there is no CUDA driver: libcuda.so.1: ");
    expect("/driver/libcuda.so.1: ");
}

/* Empty or relative elements of LD_LIBRARY_PATH: the loader would search the working directory. */
static void driver_in_the_working_directory(void **state) {
    (void)state;
    run_shell("cp driver/libcuda.so.1 .");
    run_case("driver", "LD_LIBRARY_PATH=/nowhere:");
    expect("not loaded from the working directory");
    run_case("driver", "LD_LIBRARY_PATH=driver:/nowhere");
    expect("not loaded from the working directory");
    run_case("driver", "LD_LIBRARY_PATH=$PWD/driver");
    expect("found 1");
    run_case("driver", "LD_LIBRARY_PATH=");
    expect_not("/libcuda.so.1 | found, CUDA 12.4");
}

/* ---- NVRTC. broken/ has files with NVRTC's sonames that are not libraries, so that the loader finds no NVRTC on any
 * machine. */

static void make_toolkit(const char *root, const char *major) {
    run_shell(
        "mkdir -p %s && cp $F/fake_nvrtc.so %s/libnvrtc.so.%s && cp $F/fake_builtins.so %s/libnvrtc-builtins.so.%s.0",
        root, root, major, root, major);
}

#define DRIVER "LD_LIBRARY_PATH=$PWD/driver:$PWD/broken "

static void nvrtc_of_leat_cuda_path(void **state) {
    (void)state;
    make_toolkit("tool/lib64", "12");
    run_case("nvrtc", DRIVER "LEAT_CUDA_PATH=$PWD/tool");
    expect("found 1 version 12000");
    expect("in this process |  | not loaded: libnvrtc.so.12\n");
    expect("LEAT_CUDA_PATH | ");
    expect("/tool/lib64/libnvrtc.so.12 | found, CUDA 12.0");
    expect("open ok");
    run_shell("mkdir twice && cp -r tool/lib64 twice && ln -s lib64 twice/lib && echo >twice/lib/libnvrtc.so.12");
    run_case("nvrtc", DRIVER "LEAT_CUDA_PATH=$PWD/twice");
    expect("/twice/lib64/libnvrtc.so.12 | cannot be loaded");
    expect_not("/twice/lib/libnvrtc.so.12");
    make_toolkit("plain", "12");
    run_case("nvrtc", DRIVER "LEAT_CUDA_PATH=$PWD/plain");
    expect("/plain/./libnvrtc.so.12 | found");
}

static void nvrtc_before_leat_cuda_path(void **state) {
    (void)state;
    make_toolkit("tool/lib64", "12");
    make_toolkit("other", "12");
    run_case("nvrtc", "LD_LIBRARY_PATH=$PWD/driver:$PWD/other LOADED=libnvrtc.so.12 LEAT_CUDA_PATH=$PWD/tool");
    expect("in this process | ");
    expect("/other/libnvrtc.so.12 | found, CUDA 12.0");
    expect_not("LEAT_CUDA_PATH");
    /* loaded, but newer than the driver */
    make_toolkit("newer", "13");
    run_case("nvrtc", "LD_LIBRARY_PATH=$PWD/driver:$PWD/newer LOADED=libnvrtc.so.13 LEAT_CUDA_PATH=$PWD/tool");
    expect("/newer/libnvrtc.so.13 | for CUDA 13, newer than the driver's 12");
    expect("/tool/lib64/libnvrtc.so.12 | found, CUDA 12.0");
}

static void nvrtc_by_soname(void **state) {
    (void)state;
    make_toolkit("tool", "12");
    make_toolkit("loader", "12");
    make_toolkit("loader", "13");
    run_case("nvrtc", "LD_LIBRARY_PATH=$PWD/driver:$PWD/loader CUDA_PATH=$PWD/tool");
    expect("libnvrtc.so.12 | ");
    expect("/loader/libnvrtc.so.12 | found, CUDA 12.0");
    run_case("nvrtc", "LD_LIBRARY_PATH=$PWD/driver:$PWD/loader FAKE_VERSION=13000 CUDA_PATH=$PWD/tool");
    expect("/loader/libnvrtc.so.13 | found, CUDA 13.0");
}

static void nvrtc_of_cuda_path(void **state) {
    (void)state;
    make_toolkit("tool/lib", "12");
    make_toolkit("tool/lib", "13");
    run_case("nvrtc", DRIVER "CUDA_PATH=$PWD/tool");
    expect("CUDA_PATH | ");
    expect("/tool/lib/libnvrtc.so.13 | for CUDA 13, newer than the driver's 12");
    expect("/tool/lib/libnvrtc.so.12 | found, CUDA 12.0");
    run_case("nvrtc", DRIVER "CUDA_PATH=$PWD/tool FAKE_VERSION=13010");
    expect("found 1 version 13000");
}

static void nvrtc_newer_than_its_name(void **state) {
    (void)state;
    make_toolkit("tool/lib", "12");
    run_case("nvrtc", DRIVER "CUDA_PATH=$PWD/tool FAKE_NVRTC_VERSION=14.2");
    expect("/tool/lib/libnvrtc.so.12 | for CUDA 14, newer than the driver's 12");
}

static void nvrtc_that_is_not_whole(void **state) {
    (void)state;
    make_toolkit("tool/lib64", "12");
    run_shell("rm tool/lib64/libnvrtc-builtins.so.12.0");
    run_case("nvrtc", DRIVER "LEAT_CUDA_PATH=$PWD/tool");
    expect("/tool/lib64/libnvrtc.so.12 | incomplete: libnvrtc-builtins.so.12.0 is missing");
    run_shell("cp $F/fake_nvrtc_missing.so tool/lib64/libnvrtc.so.12");
    run_case("nvrtc", DRIVER "LEAT_CUDA_PATH=$PWD/tool");
    expect("/tool/lib64/libnvrtc.so.12 | lacks nvrtcGetCUBIN");
    run_shell("echo no library >tool/lib64/libnvrtc.so.12");
    run_case("nvrtc", DRIVER "LEAT_CUDA_PATH=$PWD/tool");
    expect("/tool/lib64/libnvrtc.so.12 | cannot be loaded: ");
    expect("/broken/libnvrtc.so.12: ");
}

/* A link into another folder, which contains the builtins. */
static void nvrtc_behind_a_link(void **state) {
    (void)state;
    make_toolkit("real", "12");
    run_shell("mkdir -p tool/lib && ln -s $PWD/real/libnvrtc.so.12 tool/lib/libnvrtc.so.12");
    run_case("nvrtc", DRIVER "LEAT_CUDA_PATH=$PWD/tool");
    expect("/tool/lib/libnvrtc.so.12 | found, CUDA 12.0");
}

static void variables_that_are_ignored(void **state) {
    (void)state;
    make_toolkit("tool/lib64", "12");
    make_toolkit(".", "12");
    run_case("nvrtc", DRIVER "LEAT_CUDA_PATH=tool CUDA_PATH= VIRTUAL_ENV=. CONDA_PREFIX=");
    expect("LEAT_CUDA_PATH | tool | ignored: it is not an absolute path");
    expect_not("/tool/lib64");
    run_case("nvrtc", "LD_LIBRARY_PATH=$PWD/driver: LEAT_CUDA_PATH=");
    expect("LEAT_CUDA_PATH |  | ignored: it is empty");
    expect("not loaded from the working directory");
}

/* Only if no toolkit in /usr/local comes first. */
static void nvrtc_of_wheels(void **state) {
    (void)state;
    if (system("ls /usr/local/cuda*/lib*/libnvrtc.so.12 /usr/local/cuda*/targets/*/lib/libnvrtc.so.12 >/dev/null 2>&1 "
               "|| exit 1; exit 0") == 0)
        skip();
    make_toolkit("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", "12");
    run_case("nvrtc", DRIVER "VIRTUAL_ENV=$PWD/venv");
    expect("VIRTUAL_ENV | ");
    expect("/venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12 | found, CUDA 12.0");
    run_case("nvrtc", DRIVER "VIRTUAL_ENV=venv CONDA_PREFIX=$PWD/venv");
    expect("VIRTUAL_ENV | venv | ignored");
    expect("CONDA_PREFIX | ");
    expect("found 1");
    make_toolkit("conda/lib", "12");
    run_case("nvrtc", DRIVER "CONDA_PREFIX=$PWD/conda");
    expect("/conda/lib/libnvrtc.so.12 | found, CUDA 12.0");
    make_toolkit("venv/lib/python3.12/site-packages/nvidia/cu13/lib", "13");
    run_case("nvrtc", DRIVER "VIRTUAL_ENV=$PWD/venv");
    expect("found 1 version 12000");
    run_case("nvrtc", DRIVER "VIRTUAL_ENV=$PWD/nothing");
    expect("found 0");
    expect("not above CUDA 12");
    expect("open unsupported");
}

/* ---- headers and cuBLAS */

static void make_headers(const char *root, int version) {
    run_shell("mkdir -p %s && echo >%s/cuda_fp16.h && printf '/* */\\n#define CUDA_VERSION %d\\n' >%s/cuda.h", root,
              root, version, root);
}

static void headers_beside_nvrtc(void **state) {
    (void)state;
    make_toolkit("tool/lib64", "12");
    make_headers("tool/include", 12080);
    make_headers("own/include", 12010);
    run_case("headers", DRIVER "CUDA_PATH=$PWD/tool");
    expect("beside NVRTC | ");
    expect("/tool/include | found, CUDA 12.8");
    run_case("headers", DRIVER "CUDA_PATH=$PWD/tool LEAT_CUDA_PATH=$PWD/own");
    expect("/own/include | found, CUDA 12.1");
    make_headers("own/include", 13000);
    run_case("headers", DRIVER "CUDA_PATH=$PWD/tool LEAT_CUDA_PATH=$PWD/own");
    expect("/own/include | for CUDA 13, newer than NVRTC or the driver (CUDA 12)");
    expect("/tool/include | found");
    /* in wheels they are in another package */
    make_toolkit("nvidia/cuda_nvrtc/lib", "12");
    make_headers("nvidia/cuda_runtime/include", 12060);
    run_case("headers", DRIVER "LEAT_CUDA_PATH=$PWD/nvidia/cuda_nvrtc");
    expect("/nvidia/cuda_runtime/include | found, CUDA 12.6");
}

static void cublas_is_located(void **state) {
    (void)state;
    run_shell("mkdir -p tool/lib64 && echo not loaded >tool/lib64/libcublas.so.12.4.5.8 && "
              "ln -s libcublas.so.12.4.5.8 tool/lib64/libcublas.so.12");
    run_case("cublas", DRIVER "LEAT_CUDA_PATH=$PWD/tool");
    expect("found 1 version 12040");
    expect("/tool/lib64/libcublas.so.12 | found, version 12.4.5.8");
    run_case("cublas", "LD_LIBRARY_PATH=$PWD/driver:$PWD/tool/lib64");
    expect("libcublas.so.12 | ");
    expect("/tool/lib64/libcublas.so.12 | found, version 12.4.5.8");
    run_shell("mkdir -p newer/lib64 && echo >newer/lib64/libcublas.so.13");
    run_case("cublas", DRIVER "LEAT_CUDA_PATH=$PWD/newer");
    expect("/newer/lib64/libcublas.so.13 | for CUDA 13, newer than the driver's 12");
}

static void cublas_is_loaded(void **state) {
    (void)state;
    run_shell("mkdir -p whole/lib64 && cp \"$F/fake_cublas.so\" whole/lib64/libcublas.so.12");
    run_case("products", DRIVER "LEAT_CUDA_PATH=$PWD/whole");
    expect("open ok: \nopen ok: \nsame 1 calls 1");
    run_shell("mkdir -p lacking/lib64 && cp \"$F/fake_cublas_missing.so\" lacking/lib64/libcublas.so.12");
    run_case("products", DRIVER "LEAT_CUDA_PATH=$PWD/lacking");
    expect("/lacking/lib64/libcublas.so.12 lacks cublasSetWorkspace_v2");
    expect("same 1 calls -1");
    run_shell("mkdir -p text/lib64 && echo no library >text/lib64/libcublas.so.12");
    run_case("products", DRIVER "LEAT_CUDA_PATH=$PWD/text");
    expect("open unsupported: cuBLAS cannot be loaded: ");
}

/* ---- in this process */

static void visible_devices(void **state) {
    (void)state;
    static const char *const right[] = {
        "",  " ", "0", "0,1", " 0 , 1 ", "-1", "NoDevFiles", "GPU-8f12c0de", "GPU-8f12,1", "MIG-GPU-8f12c0de-0001/7/0",
        "00"};
    static const struct {
        const char *value, *why;
    } wrong[] = {
        {"abc", "item 1, \"abc\", is neither a number nor a UUID (GPU-...)"},
        {"0;1", "item 1, \"0;1\","},
        {"0 1", "item 1, \"0 1\","},
        {"0,", "item 2 is empty"},
        {",0", "item 1 is empty"},
        {"0,,1", "item 2 is empty"},
        {"0,-1,1", "item 2, \"-1\","},
        {"1,0,1", "item 3, \"1\", is repeated"},
        {"1,01", "item 2, \"01\", is repeated"},
        {"GPU-ab,GPU-ab", "item 2, \"GPU-ab\", is repeated"},
        {"GPU-", "item 1, \"GPU-\","},
        {"GPU-xyz", "item 1, \"GPU-xyz\","},
        {"cuda:0", "item 1, \"cuda:0\","},
        {"0x1", "item 1, \"0x1\","},
    };
    char why[160];
    for (size_t k = 0; k < ARRAY_LEN(right); k++)
        if (le_cuda_visible_error(right[k], why, sizeof why))
            fail_msg("\"%s\": %s", right[k], why);
    for (size_t k = 0; k < ARRAY_LEN(wrong); k++) {
        if (!le_cuda_visible_error(wrong[k].value, why, sizeof why))
            fail_msg("\"%s\" is right", wrong[k].value);
        if (strncmp(why, wrong[k].why, strlen(wrong[k].why)) != 0)
            fail_msg("\"%s\": %s, not %s", wrong[k].value, why, wrong[k].why);
    }
    char longest[4096];
    memset(longest, '7', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_false(le_cuda_visible_error(longest, why, sizeof why));
    longest[2000] = 'x';
    assert_true(le_cuda_visible_error(longest, why, sizeof why));
}

static int remove_folder(void **state) {
    (void)state;
    run_shell("rm -rf '%s'", folder);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup(name, fresh_folder)
int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return run_child(argv[2]);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (argv[0][0] == '/') /* under an emulator, the link points to the emulator */
        snprintf(self, sizeof self, "%s", argv[0]);
    if (length < 0 || !mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        CASE(driver_opens),
        CASE(driver_with_the_first_entry_alone),
        CASE(driver_without_an_entry),
        CASE(driver_too_old),
        CASE(driver_is_a_stub),
        CASE(driver_lacks_a_symbol),
        CASE(driver_does_not_start),
        CASE(driver_without_devices),
        CASE(devices_that_are_not_usable),
        CASE(driver_that_is_no_library),
        CASE(driver_in_the_working_directory),
        CASE(nvrtc_of_leat_cuda_path),
        CASE(nvrtc_before_leat_cuda_path),
        CASE(nvrtc_by_soname),
        CASE(nvrtc_of_cuda_path),
        CASE(nvrtc_newer_than_its_name),
        CASE(nvrtc_that_is_not_whole),
        CASE(nvrtc_behind_a_link),
        CASE(variables_that_are_ignored),
        CASE(nvrtc_of_wheels),
        CASE(headers_beside_nvrtc),
        CASE(cublas_is_located),
        CASE(cublas_is_loaded),
        cmocka_unit_test(visible_devices),
    };
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
