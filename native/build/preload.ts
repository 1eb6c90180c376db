/** Builds the preloaded library for one processor and any C library. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { BuildError } from "./build-error.ts";
import { demandPrograms } from "./host-programs.ts";
import { PRELOAD } from "./places.ts";
import { runProgram } from "./run-program.ts";

type Target = {
  /** Prefix of the cross compiler. */
  readonly crossCompiler: string;
  /** Its Debian packages. */
  readonly crossPackages: string;
  readonly compile: readonly string[];
  /** The processor in the output of `readelf --file-header`. */
  readonly machine: string;
};

const TARGETS = {
  x64: {
    crossCompiler: "x86_64-linux-gnu-gcc",
    crossPackages: "gcc-x86-64-linux-gnu libc6-dev-amd64-cross",
    compile: ["-fcf-protection=full"],
    machine: "Advanced Micro Devices X86-64",
  },
  arm64: {
    crossCompiler: "aarch64-linux-gnu-gcc",
    crossPackages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    compile: ["-mbranch-protection=standard"],
    machine: "AArch64",
  },
} as const satisfies Readonly<Record<string, Target>>;

export type ProcessorName = keyof typeof TARGETS;
export const PROCESSOR_NAMES = ["x64", "arm64"] as const satisfies readonly ProcessorName[];

type Processor = Pick<Target, "compile" | "machine"> & {
  readonly compiler: string;
  /** Programs and their Debian packages. */
  readonly needs: Readonly<Record<string, string>>;
};

/** @param host the host's processor (`process.arch`), whose compiler has no prefix */
export function processorOf(name: ProcessorName, host: string = process.arch): Processor {
  const { crossCompiler, crossPackages, compile, machine } = TARGETS[name];
  const [compiler, brings] = name === host ? ["gcc", "gcc"] : [crossCompiler, crossPackages];
  return { compiler, compile, machine, needs: { [compiler]: brings, readelf: "binutils" } };
}

/** Without a C library: the app's may be glibc or musl of any version. */
const FREESTANDING = ["-std=gnu11", "-ffreestanding", "-nostdlib", "-fno-stack-protector", "-fno-builtin"];
const STRICT = ["-Wall", "-Wextra", "-Werror"];
const SMALL = ["-Os", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-s"];
const SHARED = ["-shared", "-fPIC", "-fvisibility=hidden"];
/** Resolves all symbols at load and makes the tables read-only. */
const LINK = ["-Wl,-z,now,-z,relro,-z,noexecstack,-z,text,-z,noseparate-code,--hash-style=gnu,--build-id=none"];

/** Weak symbols: the library works without them. */
const MAY_BE_MISSING = ["__errno_location", "dlsym", "environ"];

export type BuiltPreload = { readonly file: string; readonly sha256: string; readonly bytes: number };

/**
 * @param macros overrides for tests
 * @throws BuildError with the remedy, also if the library depends on another
 */
export async function buildPreload(
  name: ProcessorName,
  file: string,
  macros: Readonly<Record<string, string>> = {},
): Promise<BuiltPreload> {
  const processor = processorOf(name);
  demandPrograms(processor);
  const sources = readdirSync(PRELOAD)
    .filter((source) => source.endsWith(".c"))
    .sort();
  const others = Object.entries(macros).map(([macro, value]) => `-D${macro}=${value}`);
  const flags = [...FREESTANDING, ...STRICT, ...SMALL, ...SHARED, ...LINK, ...processor.compile, ...others];
  mkdirSync(dirname(file), { recursive: true });
  const draft = mkdtempSync(`${file}-`);
  try {
    await runProgram(processor.compiler, [...flags, ...sources, "-o", `${draft}/library`], PRELOAD);
    const elf = ["-W", "--file-header", "--dynamic", "--dyn-syms", `${draft}/library`];
    const description = await runProgram("readelf", elf, PRELOAD);
    demandMachine(description, processor.machine);
    demandNothingNeeded(description);
    renameSync(`${draft}/library`, file);
  } finally {
    rmSync(draft, { recursive: true });
  }
  const bytes = readFileSync(file);
  return { file, sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
}

/** @param elf output of readelf for the file header */
export function demandMachine(elf: string, machine: string): void {
  const found = /^ *Machine: +(.+)$/m.exec(elf)?.[1];
  if (found !== machine) throw new BuildError(`the preloaded library is for ${found}, not for ${machine}`);
}

/** @param elf output of readelf for the dynamic section and symbols */
export function demandNothingNeeded(elf: string): void {
  if (elf.includes("(NEEDED)")) throw new BuildError(`the preloaded library must not need another library:\n${elf}`);
  const missing = [...elf.matchAll(/ (\w+) +DEFAULT +UND (\w+)/g)];
  const strange = missing.filter(([, binding, symbol = ""]) => binding !== "WEAK" || !MAY_BE_MISSING.includes(symbol));
  if (strange.length > 0)
    throw new BuildError(
      `the preloaded library must not need the symbols ${strange.map(([, , symbol]) => symbol).join(", ")}`,
    );
}
