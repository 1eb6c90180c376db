/** Builds the manager again from a copy of its source in another folder, and compares the binaries. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { buildManager } from "../../native/build/build.ts";
import { ROOT } from "../../native/build/paths.ts";
import { runProgram } from "../../native/build/run-program.ts";

/** Inputs of the build. Installed packages are linked instead, because their lock files pin their versions. */
const COPIED = [
  "native/build",
  "native/libc.json",
  "native/runtime.patch",
  "native/mbedtls-trim.h",
  "native/preload/flag.h",
  "native/licences",
  "src/contract",
];
const SOURCES = ["src/manager", "package.json", "tsconfig.json", "LICENSE"];
const LINKED = ["node_modules", "native/toolchain"];

const originalBuild = await buildManager("x64");
const elsewhere = mkdtempSync(`${tmpdir()}/lastcall-elsewhere-`);
try {
  mkdirSync(`${elsewhere}/src`);
  for (const part of [...COPIED, ...SOURCES]) cpSync(`${ROOT}/${part}`, `${elsewhere}/${part}`, { recursive: true });
  for (const part of LINKED) symlinkSync(`${ROOT}/${part}`, `${elsewhere}/${part}`);
  const output = await runProgram(process.execPath, ["native/build/main.ts"], elsewhere);
  const digestOfCopy = /sha256 ([0-9a-f]{64})/.exec(output)?.[1];
  process.stdout.write(`${originalBuild.file}: ${originalBuild.sha256}\n${elsewhere}: ${digestOfCopy}\n`);
  if (!output.includes(": built,") || digestOfCopy !== originalBuild.sha256) {
    process.stderr.write("the two builds differ: something of the folder or the time is in the binary\n");
    process.exitCode = 1;
  }
} finally {
  rmSync(elsewhere, { recursive: true });
}
