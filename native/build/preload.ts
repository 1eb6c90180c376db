/** The preloaded library: one small file for each processor, for any C library. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { BuildError } from "./build-error.ts";
import { demandPrograms } from "./host-programs.ts";
import { PRELOAD } from "./places.ts";
import { runProgram } from "./run-program.ts";

type Processor = {
  readonly compiler: string;
  readonly compile: readonly string[];
  readonly needs: Readonly<Record<string, string>>;
};

export const PROCESSORS = {
  x64: { compiler: "gcc", compile: ["-fcf-protection=full"], needs: { gcc: "gcc", readelf: "binutils" } },
  arm64: {
    compiler: "aarch64-linux-gnu-gcc",
    compile: ["-mbranch-protection=standard"],
    needs: { "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross", readelf: "binutils" },
  },
} as const satisfies Readonly<Record<string, Processor>>;

export type ProcessorName = keyof typeof PROCESSORS;

/** Nothing of a C library: it may be glibc or musl, of any age, and the compiler must not put calls into one. */
const FREESTANDING = ["-std=gnu11", "-ffreestanding", "-nostdlib", "-fno-stack-protector", "-fno-builtin"];
const STRICT = ["-Wall", "-Wextra", "-Werror"];
const SMALL = ["-Os", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-s"];
const SHARED = ["-shared", "-fPIC", "-fvisibility=hidden"];
/** All is bound and made read-only when it is loaded. */
const LINK = ["-Wl,-z,now,-z,relro,-z,noexecstack,-z,text,-z,noseparate-code,--hash-style=gnu,--build-id=none"];

/** What it may ask the program for, weakly: it does without each of them. */
const MAY_BE_MISSING = ["__errno_location", "dlsym", "environ"];

export type BuiltPreload = { readonly file: string; readonly sha256: string; readonly bytes: number };

/**
 * @param flagSocket another abstract name than the manager's, for tests
 * @throws BuildError with what to do about it, also where the library would need another
 */
export async function buildPreload(name: ProcessorName, file: string, flagSocket = ""): Promise<BuiltPreload> {
  const processor: Processor = PROCESSORS[name];
  demandPrograms(processor);
  const sources = readdirSync(PRELOAD)
    .filter((source) => source.endsWith(".c"))
    .sort();
  const socket = flagSocket === "" ? [] : [`-DFLAG_SOCKET="${flagSocket}"`];
  const flags = [...FREESTANDING, ...STRICT, ...SMALL, ...SHARED, ...LINK, ...processor.compile, ...socket];
  mkdirSync(dirname(file), { recursive: true });
  const draft = mkdtempSync(`${file}-`);
  try {
    await runProgram(processor.compiler, [...flags, ...sources, "-o", `${draft}/library`], PRELOAD);
    demandNothingNeeded(await runProgram("readelf", ["-W", "--dynamic", "--dyn-syms", `${draft}/library`], PRELOAD));
    renameSync(`${draft}/library`, file);
  } finally {
    rmSync(draft, { recursive: true });
  }
  const bytes = readFileSync(file);
  return { file, sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
}

/** @param elf what readelf says of the dynamic section and symbols */
export function demandNothingNeeded(elf: string): void {
  if (elf.includes("(NEEDED)")) throw new BuildError(`the preloaded library needs another:\n${elf}`);
  const missing = [...elf.matchAll(/ (\w+) +DEFAULT +UND (\w+)/g)];
  const strange = missing.filter(([, binding, symbol = ""]) => binding !== "WEAK" || !MAY_BE_MISSING.includes(symbol));
  if (strange.length > 0)
    throw new BuildError(`the preloaded library asks for ${strange.map(([, , symbol]) => symbol).join(", ")}`);
}
