import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { patchRuntime } from "../../native/build/runtime-tree.ts";

const PATCH = `--- a/src/a.c
+++ b/src/a.c
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
`;

describe("the patch of the compiler's runtime", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/lastcall-patch-`);
    mkdirSync(`${folder}/src`);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("changes only the reviewed lines", () => {
    writeFileSync(`${folder}/src/a.c`, "one\ntwo\nthree\n");
    patchRuntime(folder, PATCH);
    expect(readFileSync(`${folder}/src/a.c`, "utf8")).toBe("one\nTWO\nthree\n");
  });

  test("fails the build with the file's name if the runtime's source differs", () => {
    writeFileSync(`${folder}/src/a.c`, "one\ntwo and a half\nthree\n");
    expect(() => patchRuntime(folder, PATCH)).toThrow("native/runtime.patch does not apply to src/a.c");
  });
});
