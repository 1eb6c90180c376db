/** Defines the variants of the native manager, with all compiler flags. */

export type Variant = {
  /** File name in the output folder. */
  readonly output: string;
  readonly compiler: string;
  /** The compiler's own `ar`, which can read objects for link-time optimisation. */
  readonly archiver: string;
  readonly compileFlags: readonly string[];
  readonly linkFlags: readonly string[];
  /** Programs and their Debian packages. */
  readonly requiredPrograms: Readonly<Record<string, string>>;
  /** Additional C files to link, and their headers; relative to the project's root. */
  readonly extraFiles?: readonly string[];
  /** Folder for another processor's C library, which the build downloads first. */
  readonly crossLibc?: "arm64-musl";
};

/** Flags that the generated C and the runtime require. */
const REQUIRED_FLAGS = [
  ...["-std=c11", "-D_GNU_SOURCE", "-pthread", "-fno-math-errno", "-fno-strict-aliasing", "-w"],
  '-DMBEDTLS_USER_CONFIG_FILE="mbedtls-trim.h"',
];

/**
 * Prefers size to speed, because every Pod runs a manager. Drops unused functions and unwind tables, which C does not use.
 */
const SIZE_FLAGS = [
  "-Oz",
  "-ffunction-sections",
  "-fdata-sections",
  "-fno-asynchronous-unwind-tables",
  "-fno-unwind-tables",
];

/** Optimises across files at link time, which saves 3 % of the size. One job, because several jobs need `make`. */
const LINK_TIME_OPTIMISATION_FLAGS = ["-flto=1"];

/** Keeps variables in the order of the source; in another order, writes touch ten more pages of memory. */
const VARIABLE_ORDER_FLAG = "-fno-toplevel-reorder";

/** Aborts on a stack buffer overflow, which adds 1 % to the size, and makes position-independent code. */
const HARDENING_FLAGS = ["-fstack-protector-strong", "-fPIE"];

/** Flags of the shipped variants for every processor. */
const SHIPPED_COMPILE_FLAGS = [
  ...REQUIRED_FLAGS,
  "-DSCR_MUSL",
  ...SIZE_FLAGS,
  ...LINK_TIME_OPTIMISATION_FLAGS,
  ...HARDENING_FLAGS,
];

/** Folder of musl for arm64, which arm64-musl.ts creates; relative to the folder of the C runtime. */
const ARM64_MUSL = "../arm64-musl/usr";
const ARM64_LIBRARIES = `${ARM64_MUSL}/lib/aarch64-linux-musl`;

const STATIC_LINK_FLAGS = [
  VARIABLE_ORDER_FLAG,
  "-static",
  "-s",
  "-Wl,--gc-sections",
  "-Wl,--build-id=none",
  "-Wl,-z,relro,-z,now",
  "-lm",
];

/** Makes the program position-independent: musl's start file relocates it, without a dynamic loader. */
const POSITION_INDEPENDENT_FLAGS = ["-Wl,-pie", "-Wl,--no-dynamic-linker", "-Wl,-z,text"];

/**
 * The shipped variant, on a host of the same processor.
 *
 * @param libraries Debian's folder of musl's start files; musl-gcc would link start files that do not relocate the program
 */
const shippedFlags = (libraries: string, processorFlags: readonly string[]) => ({
  output: "lastcall",
  compiler: "musl-gcc",
  archiver: "gcc-ar",
  compileFlags: [...SHIPPED_COMPILE_FLAGS, ...processorFlags],
  linkFlags: [
    "-nostartfiles",
    `${libraries}/rcrt1.o`,
    `${libraries}/crti.o`,
    ...STATIC_LINK_FLAGS,
    ...POSITION_INDEPENDENT_FLAGS,
    `${libraries}/crtn.o`,
  ],
  requiredPrograms: { "musl-gcc": "musl-tools", "gcc-ar": "gcc" },
});

/** Inlines atomic operations, because the helper functions of libgcc need glibc. */
const INLINE_ATOMICS_FLAG = "-mno-outline-atomics";

const SHIPPED_X64 = shippedFlags("/usr/lib/x86_64-linux-musl", []);

/** C library calls that read a clock, block, read times from the kernel, or start a process. */
const WRAPPED_CALLS = [
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
  x64: SHIPPED_X64,
  /** For tests: the objects of `x64`, linked with a virtual clock. */
  clocked: {
    ...SHIPPED_X64,
    output: "lastcall-clocked",
    linkFlags: [...SHIPPED_X64.linkFlags, ...WRAPPED_CALLS.map((call) => `-Wl,--wrap=${call}`)],
    extraFiles: ["native-ages.c", "native-clock.c", "native-clock.h"].map((name) => `test/clock/${name}`),
  },
  /** With address and undefined-behaviour sanitizers. Links glibc, because musl has no sanitizer runtime. */
  sanitize: {
    output: "lastcall-sanitize",
    compiler: "gcc",
    archiver: "gcc-ar",
    compileFlags: [
      ...REQUIRED_FLAGS,
      "-DSCR_ASAN_FIBERS",
      "-O1",
      "-g",
      "-fno-omit-frame-pointer",
      "-fsanitize=address,undefined",
      "-fno-sanitize-recover=undefined",
      "-DSCR_RC_AUDIT",
    ],
    linkFlags: ["-fsanitize=address,undefined", "-lm"],
    requiredPrograms: { gcc: "gcc", "gcc-ar": "gcc" },
  },
  /** For images built on an arm64 host, which is untested; `arm64` cross-compiles the same source. */
  "arm64-host": shippedFlags("/usr/lib/aarch64-linux-musl", [INLINE_ATOMICS_FLAG]),
  /** Debian's cross compiler has no musl, so musl's headers and start files are passed explicitly. */
  arm64: {
    output: "lastcall-arm64",
    compiler: "aarch64-linux-gnu-gcc",
    archiver: "aarch64-linux-gnu-gcc-ar",
    compileFlags: [
      ...SHIPPED_COMPILE_FLAGS,
      "-nostdinc",
      `-isystem${ARM64_MUSL}/include/aarch64-linux-musl`,
      "-isystem/usr/lib/gcc-cross/aarch64-linux-gnu/12/include",
      INLINE_ATOMICS_FLAG,
    ],
    linkFlags: [
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
      ...STATIC_LINK_FLAGS,
      ...POSITION_INDEPENDENT_FLAGS,
    ],
    requiredPrograms: {
      "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
      "aarch64-linux-gnu-gcc-ar": "gcc-aarch64-linux-gnu",
      "apt-get": "apt",
      dpkg: "dpkg",
    },
    crossLibc: "arm64-musl",
  },
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof VARIANTS;

/** @param host processor (`process.arch`) */
export function shippedVariant(host: string): VariantName {
  return host === "arm64" ? "arm64-host" : "x64";
}
