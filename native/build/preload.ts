/** Builds the preload library for one processor and any C library. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { BuildError } from "./build-error.ts";
import { requirePrograms } from "./host-programs.ts";
import { PRELOAD } from "./paths.ts";
import { runProgram } from "./run-program.ts";

type Target = {
  /** Program name of the cross compiler. */
  readonly crossCompiler: string;
  /** Debian packages of the cross compiler, as arguments of `apt-get install`. */
  readonly crossPackages: string;
  readonly compileFlags: readonly string[];
  /** The processor's name in the output of `readelf --file-header`. */
  readonly machine: string;
};

const PROCESSORS = {
  x64: {
    crossCompiler: "x86_64-linux-gnu-gcc",
    crossPackages: "gcc-x86-64-linux-gnu libc6-dev-amd64-cross",
    compileFlags: ["-fcf-protection=full"],
    machine: "Advanced Micro Devices X86-64",
  },
  arm64: {
    crossCompiler: "aarch64-linux-gnu-gcc",
    crossPackages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    compileFlags: ["-mbranch-protection=standard"],
    machine: "AArch64",
  },
} as const satisfies Readonly<Record<string, Target>>;

export type ProcessorName = keyof typeof PROCESSORS;
export const PROCESSOR_NAMES = ["x64", "arm64"] as const satisfies readonly ProcessorName[];

type Processor = Pick<Target, "compileFlags" | "machine"> & {
  readonly compiler: string;
  /** Programs and their Debian packages. */
  readonly requiredPrograms: Readonly<Record<string, string>>;
};

/** @param host the host's processor (`process.arch`), whose compiler's name does not have a prefix */
export function processorOf(name: ProcessorName, host: string = process.arch): Processor {
  const { crossCompiler, crossPackages, compileFlags, machine } = PROCESSORS[name];
  const [compiler, debianPackages] = name === host ? ["gcc", "gcc"] : [crossCompiler, crossPackages];
  return { compiler, compileFlags, machine, requiredPrograms: { [compiler]: debianPackages, readelf: "binutils" } };
}

/** Does not link a C library, because the app's C library may be any version of glibc or musl. */
const FREESTANDING_FLAGS = ["-std=gnu11", "-ffreestanding", "-nostdlib", "-fno-stack-protector", "-fno-builtin"];
const WARNING_FLAGS = ["-Wall", "-Wextra", "-Werror"];
const SIZE_FLAGS = ["-Os", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-s"];
const SHARED_LIBRARY_FLAGS = ["-shared", "-fPIC", "-fvisibility=hidden"];
/** Resolves all symbols at load and makes the tables read-only. */
const LINK_FLAGS = ["-Wl,-z,now,-z,relro,-z,noexecstack,-z,text,-z,noseparate-code,--hash-style=gnu,--build-id=none"];

/** Weak symbols: the library also works in a process without them. */
const OPTIONAL_SYMBOLS = ["__errno_location", "dlsym", "environ"];

export type BuiltPreload = { readonly file: string; readonly sha256: string; readonly bytes: number };

/**
 * @param macros overrides for tests
 * @throws BuildError with the remedy, also if the library depends on another library
 */
export async function buildPreload(
  name: ProcessorName,
  file: string,
  macros: Readonly<Record<string, string>> = {},
): Promise<BuiltPreload> {
  const processor = processorOf(name);
  requirePrograms(processor);
  const sources = readdirSync(PRELOAD)
    .filter((source) => source.endsWith(".c"))
    .sort();
  const macroFlags = Object.entries(macros).map(([macro, value]) => `-D${macro}=${value}`);
  const flags = [
    ...FREESTANDING_FLAGS,
    ...WARNING_FLAGS,
    ...SIZE_FLAGS,
    ...SHARED_LIBRARY_FLAGS,
    ...LINK_FLAGS,
    ...processor.compileFlags,
    ...macroFlags,
  ];
  mkdirSync(dirname(file), { recursive: true });
  const temporaryFolder = mkdtempSync(`${file}-`);
  try {
    await runProgram(processor.compiler, [...flags, ...sources, "-o", `${temporaryFolder}/library`], PRELOAD);
    const readelfArgs = ["-W", "--file-header", "--dynamic", "--dyn-syms", `${temporaryFolder}/library`];
    const readelfOutput = await runProgram("readelf", readelfArgs, PRELOAD);
    requireMachine(readelfOutput, processor.machine);
    requireNoDependencies(readelfOutput);
    renameSync(`${temporaryFolder}/library`, file);
  } finally {
    rmSync(temporaryFolder, { recursive: true });
  }
  const bytes = readFileSync(file);
  return { file, sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
}

/** @param elf output of readelf for the file header */
export function requireMachine(elf: string, machine: string): void {
  const actualMachine = /^ *Machine: +(.+)$/m.exec(elf)?.[1];
  if (actualMachine !== machine)
    throw new BuildError(`the preload library is built for ${actualMachine}, expected ${machine}: check the compiler`);
}

/** @param elf output of readelf for the dynamic section and symbols */
export function requireNoDependencies(elf: string): void {
  if (elf.includes("(NEEDED)")) throw new BuildError(`the preload library must not depend on another library:\n${elf}`);
  const undefinedSymbols = [...elf.matchAll(/ (\w+) +DEFAULT +UND (\w+)/g)];
  const unexpected = undefinedSymbols.filter(
    ([, binding, symbol = ""]) => binding !== "WEAK" || !OPTIONAL_SYMBOLS.includes(symbol),
  );
  if (unexpected.length > 0)
    throw new BuildError(
      `the preload library must not depend on the symbols ${unexpected.map(([, , symbol]) => symbol).join(", ")}`,
    );
}
