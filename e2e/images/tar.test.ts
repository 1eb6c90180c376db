import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { tarParts } from "./tar.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-tar-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function extract(parts: readonly Uint8Array[]): string {
  const file = join(folder, "archive.tar");
  writeFileSync(file, Buffer.concat(parts));
  execFileSync("tar", ["-xf", file, "-C", folder]);
  return folder;
}

describe("a tar archive", () => {
  test("is extracted by tar to the same files, contents and modes", () => {
    const longPath = `${"folder/".repeat(20)}file`;
    const extracted = extract(
      tarParts([
        { path: "bin", mode: 0o755, content: undefined },
        { path: "bin/run", mode: 0o755, content: Buffer.from("#!/bin/true") },
        { path: "empty", mode: 0o644, content: Buffer.alloc(0) },
        { path: longPath, mode: 0o644, content: Buffer.alloc(1000, 7) },
      ]),
    );
    expect(readFileSync(join(extracted, "bin/run"), "utf8")).toBe("#!/bin/true");
    expect(statSync(join(extracted, "bin/run")).mode & 0o777).toBe(0o755);
    expect(statSync(join(extracted, "empty")).size).toBe(0);
    expect(readFileSync(join(extracted, longPath))).toEqual(Buffer.alloc(1000, 7));
  });

  test("consists of complete blocks for any contents", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 5 }), (contents) => {
        const parts = tarParts(contents.map((content, at) => ({ path: `file-${at}`, mode: 0o644, content })));
        expect(Buffer.concat(parts).length % 512).toBe(0);
      }),
    );
  });

  test("refuses a path that exceeds the length limit of the format", () => {
    expect(() => tarParts([{ path: "x".repeat(101), mode: 0o644, content: undefined }])).toThrow("too long");
  });
});
