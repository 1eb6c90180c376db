import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeLayer } from "./docker-archive.ts";
import { writeProgramArchive } from "./program-archive.ts";

const LINKED_PROGRAM = "/bin/true";
/** In bytes; a C library is 2 MB. */
const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;

test("a program is packed with its linked libraries, above the given base layer", async () => {
  const cache = mkdtempSync(join(tmpdir(), "lastcall-archive-"));
  try {
    const baseLayer = makeLayer([
      { path: "below", mode: 0o644, content: new TextEncoder().encode("content of the base layer") },
    ]);
    const program = { name: "localhost/true:test", program: LINKED_PROGRAM, user: "1:1", baseLayers: [baseLayer] };
    const archive = await writeProgramArchive([program], cache, Date.now());
    const read = (path: string): Buffer =>
      execFileSync("tar", ["-xOf", archive, path], { maxBuffer: OUTPUT_LIMIT_BYTES });
    const [{ Config, Layers }] = JSON.parse(read("manifest.json").toString());
    expect(JSON.parse(read(Config).toString()).config).toMatchObject({ Entrypoint: ["/bin/true"], User: "1:1" });
    expect(Layers[0]).toBe(`${baseLayer.digest}.tar`);
    const layerFiles = execFileSync("tar", ["-tf", "-"], { input: read(Layers[1]) }).toString();
    expect(layerFiles.split("\n")).toContain("bin/true");
    expect(layerFiles).toMatch(/^lib\S*\.so\S*$/m);
  } finally {
    rmSync(cache, { recursive: true });
  }
});
