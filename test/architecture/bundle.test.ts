import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const SRC = join(import.meta.dirname, "../../src");

test("the manager is made of its own room, the contract and node: alone", async () => {
  const result = await build({
    entryPoints: [join(SRC, "manager/program.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    metafile: true,
    write: false,
    absWorkingDir: SRC,
  });
  const inputs = Object.keys(result.metafile.inputs);
  expect(inputs.filter((input) => !input.startsWith("contract/") && !input.startsWith("manager/"))).toEqual([]);
  expect(inputs).toContain("manager/program.ts");
  const outside = Object.values(result.metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  expect(outside.filter((path) => !path.startsWith("node:"))).toEqual([]);
});
