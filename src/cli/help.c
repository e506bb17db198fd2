/* The help texts: each begins with examples that can be typed as they stand. */
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

static const char LEAT[] = "leat: programs over arrays, in index notation\n"
                           "\n"
                           "  leat run -e 'y[i] = a[i] / sum(k: a[k])' a=data.npy -o y=share.npy\n"
                           "  leat run -e 'y = 6 * 7'\n"
                           "  leat check -e 'c[i,j] = sum(k: a[i,k] * b[k,j])'\n"
                           "\n"
                           "subcommands:\n"
                           "  run       run a program on arrays and numbers\n"
                           "  check     a program's inputs, indices and results, or its errors\n"
                           "  show      a program as tree, ir, plan, bytecode, or code for a GPU\n"
                           "  launch    a kernel of your own CUDA C, on a GPU or simulated\n"
                           "  devices   what is here, how fast it is, and why a device cannot be used\n"
                           "  cache     compiled code that is kept: how much, for what; clear it\n"
                           "  trace     run any CUDA program and record what it does\n"
                           "  report    what a trace says: where the time went, and what would help\n"
                           "  help      this text, or `leat help run`\n"
                           "\n"
                           "`leat SUBCOMMAND --help` says more; so do the manual pages, leat(1) and leat-run(1).\n"
                           "`leat --version` prints the version.\n";

static const char RUN[] =
    "leat run: run a program on arrays and numbers\n"
    "\n"
    "  leat run -e 'y = a * 2' a=21                                   a number in, a number out\n"
    "  leat run -e 'y[i] = x[i] - mean(k: x[k])' x=x.npy              the result is printed\n"
    "  leat run -e 'y[i] = x[i] - mean(k: x[k])' x=x.npy -o y=y.npy   or written to a file\n"
    "  leat run blur.leat a=photo.png -o b=blurred.png                a program from a file, pictures\n"
    "  leat run norm.leat x=run.npz:speed eps=1e-6 --explain          one array of an .npz; what it cost\n"
    "  leat run -e 'y[i] = x[i] + 1' x=- -o y=- < x.npy > y.npy       in a pipe\n"
    "\n"
    "usage: leat run PROGRAM.leat | -e TEXT | -  [NAME=VALUE ...] [options]\n"
    "  NAME=FILE          an input from FILE.npy, FILE.npz:KEY or FILE.png; `-` is an .npy on stdin\n"
    "  NAME=NUMBER        a number of the language: 3, -0.5, 1e-6, 0xff, 1-2j, inf, nan, true, false\n"
    "  -o NAME[=FILE]     this result, printed, or into FILE.npy, FILE.npz[:KEY] or FILE.png (`-`: npy on stdout);\n"
    "                     may be repeated; without -o the program's own results are printed\n"
    "  --colormap MAP     for .png: grey (default) or viridis\n"
    "  --device D         auto (default, the CPU), cpu, cuda, cuda:1 or sim\n"
    "  --threads N        threads to use; default: LEAT_THREADS, else the cores that the process may use\n"
    "  --repeat N         run N times with the inputs in place; times on stderr\n"
    "  --explain          what each step cost, and what bounds the run, on stderr\n"
    "  --json             one object on stdout: results, notes, errors, runs, ledger\n"
    "\n"
    "exit status: 0 ok, 1 the program or arrays that do not fit it, 2 usage or a missing input, 3 a file,\n"
    "4 a device, 5 out of memory, 6 an error in the data as it ran, 130 after Ctrl-C\n";

static const char CHECK[] =
    "leat check: a program's inputs, indices and results with their types where they are known, or its errors\n"
    "\n"
    "  leat check model.leat\n"
    "  leat check -e 'c[i,j] = sum(k: a[i,k] * b[k,j])'\n"
    "  leat check model.leat --json\n"
    "\n"
    "usage: leat check PROGRAM.leat | -e TEXT | -  [--json]\n"
    "\n"
    "It takes no inputs and writes no files; `leat run PROGRAM ... -o NAME=FILE` does.\n"
    "exit status: 0 ok, 1 errors in the program, 2 usage, 3 the file cannot be read\n";

static const char SHOW[] =
    "leat show: one of the forms that a program takes on its way to the machine\n"
    "\n"
    "  leat show -e 'y[i] = x[i] + 1' --emit tree\n"
    "  leat show -e 'y[i] = x[i] + 1' x=x.npy --emit ir          stages, after all passes\n"
    "  leat show -e 'y[i] = x[i] + 1' x=x.npy --emit plan        kernels in order, what is stored\n"
    "  leat show -e 'y[i] = x[i] + 1' x=x.npy --emit bytecode    what the vector machine runs\n"
    "  leat show -e 'y[i] = x[i] + 1' x=x.npy --emit cuda        what a GPU runs; no GPU need be here\n"
    "\n"
    "usage: leat show PROGRAM.leat | -e TEXT | -  [NAME=VALUE ...] [--emit FORM] [options]\n"
    "  --emit FORM      tree (default), ir, plan or bytecode; cuda, ptx (by NVRTC) or sass (by nvdisasm), of sim's "
    "plan\n"
    "                   if no --device is given; all but tree need the program's inputs\n"
    "                   ir:PASS is the IR after a pass: lower, demand, sweep, contract, scan, loops, inline, hoist, "
    "siblings or moves\n"
    "  --arch sm_90     of ptx and sass; default: the device's\n"
    "  --device D, --threads N, --json\n"
    "\n"
    "A program with loops is run for its plan and bytecode; for results see `leat run --help` and its -o.\n"
    "exit status: as of leat run\n";

static const char LAUNCH[] =
    "leat launch: compile a file of CUDA C and launch one of its kernels\n"
    "\n"
    "  leat launch saxpy.cu:saxpy --grid 4 --block 256 a=2 x=x.npy y=y.npy n=1000 -o y\n"
    "  leat launch norm.cu:'ns::norm<float, 3>' --grid 8,8 --block 16,16 x=x.npy y=f32[128,128] -o y=y.npy\n"
    "  leat launch sum.cu:sum --grid 1 --block 128 --shared 512 x=x.npy s=f32[1] -o s --device sim --check\n"
    "  leat launch mm.cu:mm -D TILE=16 --grid 32,32 --block 16,16 a=a.npy b=b.npy c=f32[512,512] --repeat 20\n"
    "\n"
    "usage: leat launch FILE.cu:KERNEL --grid X[,Y[,Z]] --block X[,Y[,Z]] [NAME=VALUE ...] [options]\n"
    "  NAME=VALUE       the kernel's arguments in the order of its parameters, under names of your choice\n"
    "  NAME=FILE        an array from FILE.npy, FILE.npz:KEY or FILE.png; `-` is an .npy on stdin\n"
    "  NAME=TYPE[N,M]   a new array of zeros: f32[1000], i32[10,20]\n"
    "  NAME=NUMBER      a number of the parameter's type; NUMBER:TYPE says it where that cannot be told: 1.5:f16\n"
    "  -o NAME[=FILE]   this array after the launch, printed, or into FILE.npy, .npz or .png (`-`: npy on stdout)\n"
    "  --grid, --block  blocks of the grid, and threads of a block, along x, y and z\n"
    "  --shared BYTES   dynamic shared memory of a block\n"
    "  -D NAME[=VALUE]  a macro; may be repeated\n"
    "  -I FOLDER        where #include looks, after the file's own folder; may be repeated\n"
    "  --device D       auto (cuda, else sim), cuda, cuda:1 or sim\n"
    "  --check          look for races, wrong addresses and the like, on sim\n"
    "  --repeat N       launch N times, each from the arrays as they were read; the device's times on stderr\n"
    "  --explain        what each step cost, on stderr\n"
    "  --json           one object on stdout: results, notes, errors, runs, ledger\n"
    "\n"
    "exit status: 0 ok, 1 CUDA C that does not compile, 2 usage, a wrong kernel, count or type of arguments, 3 a "
    "file,\n"
    "4 a device, or no compiler for it, 5 out of memory, 6 what --check found, 130 after Ctrl-C\n";

static const char DEVICES[] =
    "leat devices: what is here, how fast it is, and why a device cannot be used\n"
    "\n"
    "  leat devices                  the CPU, CUDA devices, sim; what was looked for and where\n"
    "  leat devices --device cpu     the CPU alone, without looking for CUDA\n"
    "  leat devices --threads 1      the CPU's copy rate with one thread\n"
    "  leat devices --json\n"
    "\n"
    "usage: leat devices [--device cpu|cuda|cuda:N|sim] [--threads N] [--json]\n"
    "\n"
    "NVRTC, cuBLAS and a toolkit's headers are taken from what LEAT_CUDA_PATH names, else from where the\n"
    "system has them. `leat run PROGRAM ... -o NAME=FILE --device D` runs a program on a device.\n";

static const char CACHE[] =
    "leat cache: compiled code that is kept between runs\n"
    "\n"
    "  leat cache stat     the folder, how much is in it, and what would go next\n"
    "  leat cache list     for what each entry is, its size, ages and uses\n"
    "  leat cache clear    remove all of it\n"
    "\n"
    "usage: leat cache stat | list | clear  [--json]\n"
    "\n"
    "LEAT_CACHE_DIR names the folder, LEAT_CACHE_CAP_BYTES how large it may grow (1 GiB; 0: nothing\n"
    "is kept). What is removed is compiled again when it is needed.\n"
    "exit status: 0 ok, 2 usage, 3 the folder cannot be used\n";

static const char TRACE[] =
    "leat trace: run any CUDA program, unchanged, and record what it does\n"
    "\n"
    "  leat trace python3 app.py                      into leat.trace; then: leat report leat.trace\n"
    "  leat trace -o step.trace ./simulate 100        into a file of your choice\n"
    "  leat trace --from-start off ./simulate 100     from cuProfilerStart to cuProfilerStop alone\n"
    "  leat trace --limit 500M python3 train.py       at most so much for each process\n"
    "\n"
    "usage: leat trace [-o FILE] [--no-source] [--limit BYTES] [--from-start off] COMMAND [ARGUMENT ...]\n"
    "  -o FILE             the trace; leat.trace without this\n"
    "  --no-source         without the lines of Python, or the symbols, that made the calls\n"
    "  --limit BYTES       of each process' records; what comes after is counted, not kept; 500M, 2G\n"
    "  --from-start off    records nothing before cuProfilerStart, or after cuProfilerStop\n"
    "\n"
    "The command's arguments, input, output and exit status are its own. Where nothing can be recorded, it\n"
    "runs all the same, and a note says why. Recording needs CUPTI, which comes with the CUDA toolkit, or as the\n"
    "package nvidia-cuda-cupti; LEAT_CUDA_PATH may say where it is.\n"
    "exit status: the command's; 2 usage, 3 a command that cannot be started, a file that cannot be written\n";

static const char REPORT[] =
    "leat report: what a trace says: where the time went, why the device was idle, and what would help\n"
    "\n"
    "  leat report leat.trace                      a picture of the whole, then the findings\n"
    "  leat report leat.trace --summary            a line for each kernel, copy and call: time, count, mean\n"
    "  leat report leat.trace --trace --csv        every kernel and copy, with its shape or size\n"
    "  leat report leat.trace --svg time.svg       a timeline as a picture\n"
    "  leat report leat.trace --perfetto t.json    for ui.perfetto.dev and chrome://tracing\n"
    "\n"
    "usage: leat report FILE [--summary | --trace | --findings] [--csv | --json] [--svg OUT] [--perfetto OUT]\n"
    "  --summary        nvprof's summary: Type, Time(%), Time, Calls, Avg, Min, Max, Name\n"
    "  --trace          nvprof's trace: Start, Duration, Grid Size, Block Size, Regs, SSMem, DSMem, Size, ...\n"
    "  --findings       what would make the program faster, and by how much at most\n"
    "  --csv, --json    in these forms; --csv goes with one of the three above\n"
    "  --svg OUT        a timeline: streams, host threads, why the device was idle, findings\n"
    "  --perfetto OUT   Chrome's trace JSON, with arrows from calls to what they enqueued\n"
    "\n"
    "FILE is what `leat trace` wrote. Of a damaged or cut file what is whole is read, and notes tell the rest.\n"
    "exit status: 0 ok, 2 usage, 3 no trace, or a file that cannot be read or written, 5 out of memory\n";

void le_cli_help(const char *command) {
    static const struct {
        const char *name, *text;
    } TEXTS[] = {{"run", RUN},         {"check", CHECK}, {"show", SHOW},   {"launch", LAUNCH},
                 {"devices", DEVICES}, {"cache", CACHE}, {"trace", TRACE}, {"report", REPORT}};
    const char *text = LEAT;
    for (size_t k = 0; command && k < sizeof TEXTS / sizeof TEXTS[0]; k++)
        if (strcmp(TEXTS[k].name, command) == 0)
            text = TEXTS[k].text;
    fputs(text, stdout);
}
