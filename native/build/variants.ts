/** The kinds of binary, as data. Everything the compilers are told stands here. */

export type Variant = {
  /** File name below the output folder. */
  readonly output: string;
  readonly compiler: string;
  readonly compile: readonly string[];
  readonly link: readonly string[];
  /** Programs of the host, each with the Debian package that brings it. */
  readonly needs: Readonly<Record<string, string>>;
  /** A C library for another processor that has to be fetched first. */
  readonly foreignLibrary?: "arm64-musl";
};

/** What the generated C and its runtime were written for. */
const DIALECT = [
  ...["-std=c11", "-D_GNU_SOURCE", "-pthread", "-fno-math-errno", "-fno-strict-aliasing", "-w"],
  '-DMBEDTLS_USER_CONFIG_FILE="mbedtls-trim.h"',
];

/** Half a megabyte per Pod: code nobody calls is dropped, and no tables for unwinding, which C without exceptions never does. */
const SMALL = [
  "-Os",
  "-ffunction-sections",
  "-fdata-sections",
  "-fno-asynchronous-unwind-tables",
  "-fno-unwind-tables",
];

/** Costs 1 % of the size and turns an overrun stack buffer into an abort. */
const HARDENED = ["-fstack-protector-strong"];

/** Where native/build/foreign-library.ts lays out musl for arm64, seen from the runtime's folder. */
const ARM64_MUSL = "../arm64-musl/usr";
const ARM64_LIBRARIES = `${ARM64_MUSL}/lib/aarch64-linux-musl`;

const STATIC = ["-static", "-s", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,relro,-z,now", "-lm"];

export const VARIANTS = {
  /** The one that ships. */
  x64: {
    output: "lastcall",
    compiler: "musl-gcc",
    compile: [...DIALECT, "-DSCR_MUSL", ...SMALL, ...HARDENED],
    link: STATIC,
    needs: { "musl-gcc": "musl-tools", ar: "binutils" },
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
      // Atomics without calls into a glibc helper that asks the processor first.
      "-mno-outline-atomics",
    ],
    link: [
      "-nostdlib",
      `${ARM64_LIBRARIES}/crt1.o`,
      `${ARM64_LIBRARIES}/crti.o`,
      `-L${ARM64_LIBRARIES}`,
      "-Wl,--start-group",
      "-lc",
      "-lgcc",
      "-lgcc_eh",
      "-Wl,--end-group",
      `${ARM64_LIBRARIES}/crtn.o`,
      ...STATIC,
    ],
    needs: { "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu", "apt-get": "apt", dpkg: "dpkg", ar: "binutils" },
    foreignLibrary: "arm64-musl",
  },
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof VARIANTS;
