/* The help texts of subcommands: each begins with examples that can be typed as they stand. */
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

static const char LEAT[] =
    "leat: programs over arrays, in index notation\n"
    "\n"
    "  leat run -e 'y[i] = a[i] / sum(k: a[k])' a=data.npy -o y=share.npy\n"
    "  leat run -e 'y = 6 * 7'\n"
    "  leat check -e 'c[i,j] = sum(k: a[i,k] * b[k,j])'\n"
    "\n"
    "subcommands:\n"
    "  run          run a program on arrays and numbers\n"
    "  check        print a program's inputs, indices and results, or its errors\n"
    "  show         print a program as tree, IR, plan or bytecode, or its code for a GPU\n"
    "  launch       launch a kernel of your own CUDA C, on a GPU or simulated\n"
    "  devices      list devices, their speed, and why any is unavailable\n"
    "  cache        show or clear the cache of compiled code\n"
    "  trace        run any CUDA program and record what it does\n"
    "  report       show what a trace says: where the time went, and what would help\n"
    "  help         print this text, or the help of a subcommand, topic or function: `leat help run`\n"
    "\n"
    "topics of `leat help TOPIC`:\n"
    "  language     the language on one page, with its operators\n"
    "  functions    all functions, reductions and constants\n"
    "  types        all types, and which type an expression has\n"
    "  files        the formats of files that are read and written\n"
    "  environment  the environment variables\n"
    "  exit-status  the exit codes\n"
    "\n"
    "`leat SUBCOMMAND --help` prints more, as do the man pages leat(1), leat-run(1) and so on.\n"
    "`leat --version` prints the version.\n";

static const char HELP[] = "leat help: print the help of a subcommand, a topic or a function\n"
                           "\n"
                           "  leat help                list subcommands and topics\n"
                           "  leat help run            same as `leat run --help`\n"
                           "  leat help functions      list all functions, reductions and constants\n"
                           "  leat help clamp          explain one function\n"
                           "\n"
                           "usage: leat help [SUBCOMMAND | TOPIC | FUNCTION]\n"
                           "  subcommands: run, check, show, launch, devices, cache, trace, report\n"
                           "  topics:      language, functions, types, files, environment, exit-status\n"
                           "exit status: 0 ok, 2 there is no such subcommand, topic or function\n";

static const char RUN[] =
    "leat run: run a program on arrays and numbers\n"
    "\n"
    "  leat run -e 'y = a * 2' a=21                                   pass a number, print a number\n"
    "  leat run -e 'y[i] = x[i] - mean(k: x[k])' x=x.npy              print the result\n"
    "  leat run -e 'y[i] = x[i] - mean(k: x[k])' x=x.npy -o y=y.npy   write it to a file\n"
    "  leat run -e 'm[j] = mean(i: x[i,j])' x=table.csv               read a table of text\n"
    "  leat run blur.leat a=photo.png -o b=blurred.png                run a file, read and write pictures\n"
    "  leat run norm.leat x=run.npz:speed eps=1e-6 --explain          read one array of an .npz, print the cost\n"
    "  leat run -e 'y[i] = x[i] + 1' x=- -o y=- < x.npy > y.npy       use it in a pipe\n"
    "\n"
    "usage: leat run PROGRAM.leat | -e TEXT | -  [NAME=VALUE ...] [options]\n"
    "  NAME=FILE             read input NAME from FILE.npy, FILE.npz:KEY, FILE.csv, FILE.tsv or FILE.png;\n"
    "                        `-` reads an .npy from stdin\n"
    "  NAME=NUMBER           set input NAME to a number: 3, -0.5, 1e-6, 0xff, 1-2j, inf, nan, true, false\n"
    "  -o NAME[=FILE]        print result NAME, or write it to FILE.npy, FILE.npz[:KEY], FILE.csv, FILE.tsv or\n"
    "                        FILE.png (`-`: npy on stdout); may be repeated, and several results may go into\n"
    "                        one .npz; without -o the program's own results are printed\n"
    "  --precision-digits N  print floats with at most N significant digits; by default with as many as read\n"
    "                        back as the same value; files and --json always have those\n"
    "  --colormap MAP        color a .png: grey (default) or viridis\n"
    "  --sync                wait until the files are on the disk, so that they survive a crash of the machine\n"
    "  --device D            run on auto (default, the CPU), cpu, cuda, cuda:1 or sim\n"
    "  --threads N           use N threads; defaults to LEAT_THREADS, else the cores that the process may use\n"
    "  --repeat N            run N times with the inputs in place, and print times on stderr\n"
    "  --explain             print what each step cost, and what bounds the run, on stderr\n"
    "  --json                print one JSON object: results, notes, errors, runs, ledger\n"
    "\n"
    "Printed arrays are as wide as COLUMNS says, else as the terminal, else 80 characters.\n"
    "exit status: 0 ok, 1 the program is wrong or does not fit its arrays, 2 usage or a missing input, 3 a file\n"
    "cannot be read or written, 4 no such device, 5 out of memory, 6 an error in the data, 130 after Ctrl-C\n";

static const char CHECK[] =
    "leat check: print a program's inputs, indices and results with their types where known, or its errors\n"
    "\n"
    "  leat check model.leat\n"
    "  leat check -e 'c[i,j] = sum(k: a[i,k] * b[k,j])'\n"
    "  leat check model.leat --json\n"
    "\n"
    "usage: leat check PROGRAM.leat | -e TEXT | -  [--json]\n"
    "  -e TEXT    check TEXT instead of a file; `-` reads the program from stdin\n"
    "  --json     print one JSON object\n"
    "\n"
    "It takes no inputs and writes no files; `leat run PROGRAM ... -o NAME=FILE` does.\n"
    "exit status: 0 ok, 1 errors in the program, 2 usage, 3 the file cannot be read\n";

static const char SHOW[] =
    "leat show: print one of the forms that a program takes on its way to the machine\n"
    "\n"
    "  leat show -e 'y[i] = x[i] + 1' --emit tree\n"
    "  leat show -e 'y[i] = x[i] + 1' x=x.npy --emit ir          stages, after all passes\n"
    "  leat show -e 'y[i] = x[i] + 1' x=x.npy --emit plan        kernels in order, and what is stored\n"
    "  leat show -e 'y[i] = x[i] + 1' x=x.npy --emit bytecode    what the CPU's vector machine runs\n"
    "  leat show -e 'y[i] = x[i] + 1' x=x.npy --emit cuda        what a GPU runs; needs no GPU\n"
    "\n"
    "usage: leat show PROGRAM.leat | -e TEXT | -  [NAME=VALUE ...] [--emit FORM] [options]\n"
    "  --emit FORM    print tree (default), ir, ir:PASS, plan, bytecode, cuda, ptx (compiled by NVRTC) or sass\n"
    "                 (by nvdisasm). All but tree need the program's inputs. cuda, ptx and sass are of sim's plan\n"
    "                 if no --device is given. ir:PASS is the IR after one pass: lower, sweep, contract, scan,\n"
    "                 loops, inline, hoist, siblings or moves\n"
    "  --arch ARCH    compile ptx and sass for ARCH, such as sm_90; defaults to the device's\n"
    "  --device D     plan for device D\n"
    "  --threads N    plan for N threads\n"
    "  --json         print one JSON object\n"
    "\n"
    "To plan a program with loops, show runs it. `leat run` prints results.\n"
    "exit status: same as `leat run`\n";

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
    "  NAME=FILE        an array from FILE.npy, FILE.npz:KEY, FILE.csv or FILE.png; `-` is an .npy on stdin\n"
    "  NAME=TYPE[N,M]   a new array of zeros: f32[1000], i32[10,20]\n"
    "  NAME=NUMBER      a number of the parameter's type; NUMBER:TYPE says it where that cannot be told: 1.5:f16\n"
    "  -o NAME[=FILE]   this array after the launch, printed, or into FILE.npy, .npz, .csv or .png (`-`: npy on\n"
    "                   stdout)\n"
    "  --precision-digits N  print floats with at most N significant digits\n"
    "  --sync           wait until the files are on the disk\n"
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
    } TEXTS[] = {{"run", RUN},     {"check", CHECK}, {"show", SHOW},     {"launch", LAUNCH}, {"devices", DEVICES},
                 {"cache", CACHE}, {"trace", TRACE}, {"report", REPORT}, {"help", HELP}};
    const char *text = LEAT;
    for (size_t k = 0; command && k < sizeof TEXTS / sizeof TEXTS[0]; k++)
        if (strcmp(TEXTS[k].name, command) == 0)
            text = TEXTS[k].text;
    fputs(text, stdout);
}
