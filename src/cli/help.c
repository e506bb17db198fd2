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
    "                   ir:PASS is the IR after a pass: lower, sweep, contract, scan, loops, inline, hoist, siblings "
    "or moves\n"
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
    "  NAME=VALUE       pass the kernel's arguments in the order of its parameters. NAME is only a label for -o:\n"
    "                   arguments are matched by position, not by name\n"
    "  NAME=FILE        an array from FILE.npy, FILE.npz:KEY or FILE.png; `-` reads an .npy from stdin\n"
    "  NAME=TYPE[N,M]   a new array of zeros: f32[1000], i32[10,20]\n"
    "  NAME=NUMBER      a number of the parameter's type; NUMBER:TYPE if the type is unknown: 1.5:f16\n"
    "  -o NAME[=FILE]   print this array after the launch, or write it to FILE.npy, .npz or .png (`-`: npy on stdout)\n"
    "  --grid, --block  set the number of blocks in the grid, and of threads in a block, along x, y and z\n"
    "  --shared BYTES   give each block BYTES of dynamic shared memory\n"
    "  -D NAME[=VALUE]  define a macro; may be repeated\n"
    "  -I FOLDER        search FOLDER for #include, after the file's own folder; may be repeated\n"
    "  --device D       run on auto (cuda, else sim), cuda, cuda:1 or sim\n"
    "  --check          look for races, out-of-bounds accesses and similar errors, on sim\n"
    "  --repeat N       launch N times, each time from the original arrays; print the device's times on stderr\n"
    "  --explain        print what each step cost, on stderr\n"
    "  --json           print one JSON object: results, notes, errors, runs, ledger\n"
    "\n"
    "exit status: 0 ok, 1 the CUDA C does not compile, 2 usage, no such kernel, or wrong arguments, 3 a file\n"
    "cannot be read or written, 4 no such device or no compiler for it, 5 out of memory, 6 --check found errors,\n"
    "130 after Ctrl-C\n";

static const char DEVICES[] =
    "leat devices: list devices, their speed, and why any is unavailable\n"
    "\n"
    "  leat devices                  list the CPU, CUDA devices and sim, and the CUDA libraries found\n"
    "  leat devices --device cpu     list the CPU only, without looking for CUDA\n"
    "  leat devices --threads 1      measure the CPU's copy rate with one thread\n"
    "  leat devices --json           print JSON\n"
    "\n"
    "usage: leat devices [--device cpu|cuda|cuda:N|sim] [--threads N] [--json]\n"
    "  --device D       list this device only\n"
    "  --threads N      measure the CPU with N threads\n"
    "  --json           print one JSON object\n"
    "\n"
    "Set LEAT_CUDA_PATH to use the NVRTC, cuBLAS and headers in that folder; otherwise Leat looks in the\n"
    "usual places. `leat run PROGRAM ... -o NAME=FILE --device D` runs a program on a device.\n"
    "exit status: 0 ok, 2 usage, 4 no such device\n";

static const char CACHE[] =
    "leat cache: show or clear the cache of compiled code\n"
    "\n"
    "  leat cache stat     print the folder, its size, and the entry that is evicted next\n"
    "  leat cache list     list each entry: its size, age, number of uses, and what it was compiled from\n"
    "  leat cache clear    remove all entries\n"
    "\n"
    "usage: leat cache stat | list | clear  [--json]\n"
    "  --json              print one JSON object\n"
    "\n"
    "LEAT_CACHE_DIR sets the folder. LEAT_CACHE_CAP_BYTES sets its maximum size; it defaults to 1 GiB, and 0\n"
    "turns the cache off. Code that is not in the cache is compiled again when it is needed.\n"
    "exit status: 0 ok, 2 usage, 3 the folder cannot be used\n";

static const char TRACE[] =
    "leat trace: run any CUDA program, unchanged, and record what it does\n"
    "\n"
    "  leat trace python3 app.py                      write leat.trace; then run: leat report leat.trace\n"
    "  leat trace -o step.trace ./simulate 100        write the trace to step.trace\n"
    "  leat trace --from-start off ./simulate 100     record only from cuProfilerStart to cuProfilerStop\n"
    "  leat trace --limit 500M python3 train.py       record at most 500 MiB per process\n"
    "  leat trace --graphs only python3 train.py      record launches of CUDA graphs, not of single kernels\n"
    "\n"
    "usage: leat trace [-o FILE] [--no-source] [--limit BYTES] [--from-start off] [--graphs only]\n"
    "                  COMMAND [ARGUMENT ...]\n"
    "  -o FILE             write the trace to FILE; defaults to leat.trace\n"
    "  --no-source         do not record which lines of Python, or which C functions, made the calls\n"
    "  --limit BYTES       record at most BYTES per process; later records are counted only; 500M, 2G\n"
    "  --from-start off    record nothing before cuProfilerStart or after cuProfilerStop\n"
    "  --graphs only       record each launch of a CUDA graph as a whole; do not record the calls that launch\n"
    "                      single kernels, such as those that a graph captures\n"
    "\n"
    "The command keeps its own arguments, input, output and exit status. If nothing can be recorded, it runs\n"
    "anyway, and a note says why. Recording needs CUPTI, which comes with the CUDA toolkit and with the package\n"
    "nvidia-cuda-cupti; set LEAT_CUDA_PATH to its folder if it is not found.\n"
    "exit status: same as the command's; 2 usage, 3 the command cannot be started or the file cannot be written\n";

static const char REPORT[] =
    "leat report: show what a trace says: where the time went, why the device was idle, and what would help\n"
    "\n"
    "  leat report leat.trace                      print an overview, then the findings\n"
    "  leat report leat.trace --summary            print one line per kernel, copy and call: time, count, mean\n"
    "  leat report leat.trace --trace --csv        list every kernel and copy with its shape or size\n"
    "  leat report leat.trace --svg time.svg       draw a timeline\n"
    "  leat report leat.trace --perfetto t.json    write a file for ui.perfetto.dev and chrome://tracing\n"
    "\n"
    "usage: leat report FILE [--summary | --trace | --findings] [--csv | --json] [--svg OUT] [--perfetto OUT]\n"
    "  --summary        print nvprof's summary: Type, Time(%), Time, Calls, Avg, Min, Max, Name\n"
    "  --trace          print nvprof's trace: Start, Duration, Grid Size, Block Size, Regs, SSMem, DSMem, Size, ...\n"
    "  --findings       print what would make the program faster, and by how much at most\n"
    "  --csv            print CSV; needs --summary, --trace or --findings\n"
    "  --json           print one JSON object\n"
    "  --svg OUT        write a timeline: streams, host threads, why the device was idle, findings\n"
    "  --perfetto OUT   write Chrome's trace JSON, with arrows from calls to the work they enqueued\n"
    "\n"
    "FILE is written by `leat trace`. The intact part of a damaged file is read, and notes say what is missing.\n"
    "exit status: 0 ok, 2 usage, 3 not a trace, or a file cannot be read or written, 5 out of memory\n";

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
