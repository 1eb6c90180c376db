/** The kinds of binary, as data. Everything the compilers are told stands here. */

export type Variant = {
  /** File name below the output folder. */
  readonly output: string;
  readonly compiler: string;
  readonly compile: readonly string[];
  readonly link: readonly string[];
  /** Programs of the host, each with the Debian package that brings it. */
  readonly needs: Readonly<Record<string, string>>;
  /** C files below the root that are linked in, and headers of theirs. */
  readonly beside?: readonly string[];
  /** A C library for another processor that has to be fetched first. */
  readonly foreignLibrary?: "arm64-musl";
};

/** What the generated C and its runtime were written for. */
const DIALECT = [
  ...["-std=c11", "-D_GNU_SOURCE", "-pthread", "-fno-math-errno", "-fno-strict-aliasing", "-w"],
  '-DMBEDTLS_USER_CONFIG_FILE="mbedtls-trim.h"',
];

/**
 * Half a megabyte per Pod: size goes before speed, code that nothing calls is dropped, and so are tables for unwinding,
 * which C without exceptions never does.
 */
const SMALL = [
  "-Oz",
  "-ffunction-sections",
  "-fdata-sections",
  "-fno-asynchronous-unwind-tables",
  "-fno-unwind-tables",
];

/** Turns an overrun stack buffer into an abort, for 1 % of the size, and makes code that can lie at any address. */
const HARDENED = ["-fstack-protector-strong", "-fPIE"];

/** Where native/build/foreign-library.ts lays out musl for arm64, seen from the runtime's folder. */
const ARM64_MUSL = "../arm64-musl/usr";
const ARM64_LIBRARIES = `${ARM64_MUSL}/lib/aarch64-linux-musl`;

const STATIC = ["-static", "-s", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,relro,-z,now", "-lm"];

/** The kernel loads it at another address each time; musl's start file relocates it, so no loader is needed. */
const POSITION_INDEPENDENT = ["-Wl,-pie", "-Wl,--no-dynamic-linker", "-Wl,-z,text"];

/**
 * The one that ships, on a host of its own processor.
 *
 * @param libraries Debian's place for musl's start files; the compiler's wrapper would take the ones that cannot relocate
 *   themselves
 */
const shipped = (libraries: string, compile: readonly string[]) => ({
  output: "lastcall",
  compiler: "musl-gcc",
  compile: [...DIALECT, "-DSCR_MUSL", ...SMALL, ...HARDENED, ...compile],
  link: [
    "-nostartfiles",
    `${libraries}/rcrt1.o`,
    `${libraries}/crti.o`,
    ...STATIC,
    ...POSITION_INDEPENDENT,
    `${libraries}/crtn.o`,
  ],
  needs: { "musl-gcc": "musl-tools", ar: "binutils" },
});

/** Atomics without calls into a glibc helper that asks the processor first. */
const PLAIN_ATOMICS = "-mno-outline-atomics";

const X64 = shipped("/usr/lib/x86_64-linux-musl", []);

/** Calls of the C library that tell the time, wait for it, read what the kernel has timed, or start what does. */
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
  /** The same objects on a clock that a test moves. Only tests run it. */
  clocked: {
    ...X64,
    output: "lastcall-clocked",
    link: [...X64.link, ...TIMED.map((call) => `-Wl,--wrap=${call}`)],
    beside: ["native-ages.c", "native-clock.c", "native-clock.h"].map((name) => `test/clock/${name}`),
  },
  /** The same source under the address and undefined-behaviour sanitizers; glibc, since musl has no sanitizer runtime. */
  sanitize: {
    output: "lastcall-sanitize",
    compiler: "gcc",
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
    needs: { gcc: "gcc", ar: "binutils" },
  },
  /** For images that are built on arm64. It was never built there; `arm64` is the same source from the cross compiler. */
  "arm64-host": shipped("/usr/lib/aarch64-linux-musl", [PLAIN_ATOMICS]),
  /** Debian's cross compiler brings no musl, so its own headers and start files are turned off and musl's are named. */
  arm64: {
    output: "lastcall-arm64",
    compiler: "aarch64-linux-gnu-gcc",
    compile: [
      ...DIALECT,
      "-DSCR_MUSL",
      ...SMALL,
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
    needs: { "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu", "apt-get": "apt", dpkg: "dpkg", ar: "binutils" },
    foreignLibrary: "arm64-musl",
  },
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof VARIANTS;

/** @param host its processor, as Node names it */
export function shippedVariant(host: string): VariantName {
  return host === "arm64" ? "arm64-host" : "x64";
}
