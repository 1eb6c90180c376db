import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { missingPrograms } from "../../native/build/host-programs.ts";
import { PRELOAD, ROOT } from "../../native/build/paths.ts";
import {
  buildPreload,
  PROCESSOR_NAMES,
  processorOf,
  requireMachine,
  requireNoDependencies,
} from "../../native/build/preload.ts";
import { runProgram } from "../../native/build/run-program.ts";
import { shippedVariant, VARIANTS } from "../../native/build/variants.ts";

/** Each app process maps the library, so it must be small. On arm64 most of its size is alignment to pages of 64 KiB. */
const LIMIT_BYTES = { x64: 16 * 1024, arm64: 68 * 1024 };
/** Values of the field e_machine in an ELF file, and the field's offset in bytes. */
const MACHINE = { x64: 62, arm64: 183 };
const MACHINE_OFFSET = 18;
/** The source of the library must be short enough for a complete review. */
const LIMIT_LINES = 520;

const folder = mkdtempSync(join(tmpdir(), "lastcall-preload-build-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(PROCESSOR_NAMES)("the preload library for %s", (name) => {
  const missing = missingPrograms(processorOf(name));
  const reason = `the preload library for ${name} is not tested: the host lacks ${missing.join(" and ")}`;
  if (missing.length > 0) {
    if (process.env["CI"] !== undefined) throw new Error(reason);
    process.stdout.write(`${reason}\n`);
  }

  test.skipIf(missing.length > 0)(
    "is small, compiled for its processor, and identical in every build folder",
    async () => {
      const localBuild = await buildPreload(name, join(folder, `${name}.so`));
      expect(localBuild.bytes).toBeLessThanOrEqual(LIMIT_BYTES[name]);
      const copyFolder = join(folder, `elsewhere-${name}`);
      mkdirSync(copyFolder);
      for (const part of ["native/build", "native/preload", "package.json"])
        cpSync(join(ROOT, part), join(copyFolder, part), { recursive: true });
      symlinkSync(join(ROOT, "node_modules"), join(copyFolder, "node_modules"));
      const output = await runProgram(process.execPath, ["native/build/preload-main.ts"], copyFolder);
      expect(output).toContain(`sha256 ${localBuild.sha256}`);
      const bytes = readFileSync(localBuild.file);
      expect(bytes.readUInt16LE(MACHINE_OFFSET)).toBe(MACHINE[name]);
      if (name !== process.arch) return;
      const nativeFolder = join(copyFolder, "build/native");
      expect(readFileSync(join(nativeFolder, "lastcall-preload.so")).equals(bytes)).toBe(true);
      const builtFiles = [...readdirSync(nativeFolder), VARIANTS[shippedVariant(name)].output, "NOTICES.txt"];
      expect(listCopiedFiles().filter((file) => !builtFiles.includes(file))).toEqual([]);
    },
  );
});

/** Lists the files below build/native that the Dockerfile copies. */
function listCopiedFiles(): readonly string[] {
  const copies = readFileSync(join(ROOT, "Dockerfile"), "utf8").matchAll(
    /^COPY --from=build \/source\/build\/native\/(\S+) /gm,
  );
  const files = [...copies].map(([, file = ""]) => file);
  expect(files).toContain("lastcall-preload.so");
  return files;
}

describe.each(PROCESSOR_NAMES)("on a host with processor %s", (host) => {
  test("the native compiler's name does not have a prefix, and its flags match the processor", () => {
    const [own, other] = host === "x64" ? (["x64", "arm64"] as const) : (["arm64", "x64"] as const);
    expect(processorOf(own, host).compiler).toBe("gcc");
    expect(processorOf(other, host).compiler).toMatch(/^(?:aarch64|x86_64)-linux-gnu-gcc$/);
    expect(processorOf("x64", host).compileFlags).toEqual(["-fcf-protection=full"]);
    expect(processorOf("arm64", host).compileFlags).toEqual(["-mbranch-protection=standard"]);
  });

  test("the image's manager is compiled for the host's processor", () => {
    const { output, linkFlags } = VARIANTS[shippedVariant(host)];
    expect(output).toBe("lastcall");
    expect(linkFlags).toContain(`/usr/lib/${{ x64: "x86_64", arm64: "aarch64" }[host]}-linux-musl/rcrt1.o`);
  });
});

test("the build refuses a preload library that is compiled for another processor", () => {
  expect(() => requireMachine("  Machine:                           AArch64\n", "AArch64")).not.toThrow();
  expect(() =>
    requireMachine("  Machine:                           AArch64\n", "Advanced Micro Devices X86-64"),
  ).toThrow("is built for AArch64, expected Advanced Micro Devices X86-64");
});

describe("the check of the preload library's dependencies", () => {
  test("refuses a dependency on any shared library", () => {
    expect(() => requireNoDependencies(" 0x01 (NEEDED)  Shared library: [libc.so.6]")).toThrow(
      "must not depend on another library",
    );
  });

  test("refuses a required external symbol that is not weak", () => {
    const line = "     2: 0000000000000000     0 NOTYPE  GLOBAL DEFAULT  UND memcpy\n";
    expect(() => requireNoDependencies(line)).toThrow("must not depend on the symbols memcpy");
  });
});

test("the preload library's source does not exceed its line limit", () => {
  const lines = readdirSync(PRELOAD).flatMap((file) => readFileSync(join(PRELOAD, file), "utf8").split("\n"));
  expect(lines.filter((line) => line !== "").length).toBeLessThanOrEqual(LIMIT_LINES);
});
