import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeLayer } from "./docker-archive.ts";
import { programArchive } from "./program-archive.ts";

const LINKED = "/bin/true";

async function archived(below: Parameters<typeof programArchive>[0][number]["below"]): Promise<string> {
  const cache = mkdtempSync(join(tmpdir(), "lastcall-archive-"));
  try {
    const packed = [
      { name: "localhost/true:test", program: LINKED, user: "1:1", ...(below === undefined ? {} : { below }) },
    ];
    return readFileSync(await programArchive(packed, cache, Date.now()), "latin1");
  } finally {
    rmSync(cache, { recursive: true });
  }
}

test("a program is packed with the libraries it is linked to, above what lies below it", async () => {
  const below = makeLayer([{ path: "below", mode: 0o644, content: new TextEncoder().encode("what lies below") }]);
  const archive = await archived([below]);
  expect(archive).toContain("bin/true\0");
  expect(archive).toMatch(/lib\S*\.so\S*\0/);
  expect(archive).toContain('"Entrypoint":["/bin/true"]');
  const layers = /"diff_ids":\["sha256:([0-9a-f]+)","sha256:([0-9a-f]+)"\]/.exec(archive);
  expect(layers?.[1]).toBe(below.digest);
});
