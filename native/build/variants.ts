/** Defines the variants of the binary, with all compiler flags. */

export type Variant = {
  /** File name in the output folder. */
  readonly output: string;
  readonly compiler: string;
  /** The compiler's own `ar`, which reads objects of link-time optimisation. */
  readonly archiver: string;
  readonly compile: readonly string[];
  readonly link: readonly string[];
  /** Programs and their Debian packages. */
  readonly needs: Readonly<Record<string, string>>;
  /** Additional C files to link, and their headers; relative to the root. */
  readonly beside?: readonly string[];
  /** Folder for a C library of another processor, which is downloaded first. */
  readonly foreignLibrary?: "arm64-musl";
};

/** Required by the generated C and the runtime. */
const DIALECT = [
  ...["-std=c11", "-D_GNU_SOURCE", "-pthread", "-fno-math-errno", "-fno-strict-aliasing", "-w"],
  '-DMBEDTLS_USER_CONFIG_FILE="mbedtls-trim.h"',
];

/**
 * Prefers size to speed, because every Pod runs a manager. Drops unused functions and unwind tables, which C does not use.
 */
const SMALL = [
  "-Oz",
  "-ffunction-sections",
  "-fdata-sections",
  "-fno-asynchronous-unwind-tables",
  "-fno-unwind-tables",
];

/** Optimises across files at link time, which saves 3 % of the size. One job, because several need `make`. */
const LINK_TIME = ["-flto=1"];

/** Keeps the program's variables in the order of the source; another order dirties ten more pages of memory. */
const IN_ORDER = "-fno-toplevel-reorder";

/** Aborts on a stack buffer overflow, for 1 % of the size, and makes position-independent code. */
const HARDENED = ["-fstack-protector-strong", "-fPIE"];

/** musl for arm64 from foreign-library.ts, relative to the runtime. */
const ARM64_MUSL = "../arm64-musl/usr";
const ARM64_LIBRARIES = `${ARM64_MUSL}/lib/aarch64-linux-musl`;

const STATIC = [IN_ORDER, "-static", "-s", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,relro,-z,now", "-lm"];

/** Position-independent: musl's start file relocates the program, without a loader. */
const POSITION_INDEPENDENT = ["-Wl,-pie", "-Wl,--no-dynamic-linker", "-Wl,-z,text"];

/**
 * The shipped variant, on a host of the same processor.
 *
 * @param libraries Debian's folder of musl's start files; musl-gcc would use those without self-relocation
 */
const shipped = (libraries: string, compile: readonly string[]) => ({
  output: "lastcall",
  compiler: "musl-gcc",
  archiver: "gcc-ar",
  compile: [...DIALECT, "-DSCR_MUSL", ...SMALL, ...LINK_TIME, ...HARDENED, ...compile],
  link: [
    "-nostartfiles",
    `${libraries}/rcrt1.o`,
    `${libraries}/crti.o`,
    ...STATIC,
    ...POSITION_INDEPENDENT,
    `${libraries}/crtn.o`,
  ],
  needs: { "musl-gcc": "musl-tools", "gcc-ar": "gcc" },
});

/** Avoids glibc's helper functions for atomics. */
const PLAIN_ATOMICS = "-mno-outline-atomics";

const X64 = shipped("/usr/lib/x86_64-linux-musl", []);

/** C library calls that read a clock, wait, read ages from the kernel, or start a process. */
const TIMED = [
  "clock_gettime",
  "poll",
  "epoll_wait",
  "nanosleep",
  "timerfd_settime",
  "socket",
  "close",
  "recv",
  "posix_spawnp",
];

export const VARIANTS = {
  x64: X64,
  /** The same objects with a virtual clock, for tests. */
  clocked: {
    ...X64,
    output: "lastcall-clocked",
    link: [...X64.link, ...TIMED.map((call) => `-Wl,--wrap=${call}`)],
    beside: ["native-ages.c", "native-clock.c", "native-clock.h"].map((name) => `test/clock/${name}`),
  },
  /** With address and undefined-behaviour sanitizers; glibc, because musl has no sanitizer runtime. */
  sanitize: {
    output: "lastcall-sanitize",
    compiler: "gcc",
    archiver: "gcc-ar",
    compile: [
      ...DIALECT,
      "-DSCR_ASAN_FIBERS",
      "-O1",
      "-g",
      "-fno-omit-frame-pointer",
      "-fsanitize=address,undefined",
      "-fno-sanitize-recover=undefined",
      "-DSCR_RC_AUDIT",
    ],
    link: ["-fsanitize=address,undefined", "-lm"],
    needs: { gcc: "gcc", "gcc-ar": "gcc" },
  },
  /** For images built on an arm64 host, which was never tried; `arm64` cross-compiles the same source. */
  "arm64-host": shipped("/usr/lib/aarch64-linux-musl", [PLAIN_ATOMICS]),
  /** Debian's cross compiler has no musl, so musl's headers and start files are passed explicitly. */
  arm64: {
    output: "lastcall-arm64",
    compiler: "aarch64-linux-gnu-gcc",
    archiver: "aarch64-linux-gnu-gcc-ar",
    compile: [
      ...DIALECT,
      "-DSCR_MUSL",
      ...SMALL,
      ...LINK_TIME,
      ...HARDENED,
      "-nostdinc",
      `-isystem${ARM64_MUSL}/include/aarch64-linux-musl`,
      "-isystem/usr/lib/gcc-cross/aarch64-linux-gnu/12/include",
      PLAIN_ATOMICS,
    ],
    link: [
      "-nostdlib",
      `${ARM64_LIBRARIES}/rcrt1.o`,
      `${ARM64_LIBRARIES}/crti.o`,
      `-L${ARM64_LIBRARIES}`,
      "-Wl,--start-group",
      "-lc",
      "-lgcc",
      "-lgcc_eh",
      "-Wl,--end-group",
      `${ARM64_LIBRARIES}/crtn.o`,
      ...STATIC,
      ...POSITION_INDEPENDENT,
    ],
    needs: {
      "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
      "aarch64-linux-gnu-gcc-ar": "gcc-aarch64-linux-gnu",
      "apt-get": "apt",
      dpkg: "dpkg",
    },
    foreignLibrary: "arm64-musl",
  },
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof VARIANTS;

/** @param host processor (`process.arch`) */
export function shippedVariant(host: string): VariantName {
  return host === "arm64" ? "arm64-host" : "x64";
}
