import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const SRC = join(import.meta.dirname, "../../src");

test("the manager's bundle contains only src/manager, src/contract and node: modules", async () => {
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
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  expect(imports.filter((path) => !path.startsWith("node:"))).toEqual([]);
});
