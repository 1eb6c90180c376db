import { existsSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { IMAGES } from "./image-table.ts";
import { productionPackages } from "./production-packages.ts";

const ROOT = join(import.meta.dirname, "../../..");

type Needs = { readonly files: readonly string[]; readonly packages: readonly string[] };

/** What a program loads, at its start or later: its own files, and packages by name. */
async function needsOf(entry: string): Promise<Needs> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format: "esm",
    splitting: true,
    outdir: "unused",
    packages: "external",
    write: false,
    metafile: true,
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const outside = imports.filter(({ external, path }) => external === true && !path.startsWith("node:"));
  const name = (path: string) =>
    path
      .split("/")
      .slice(0, path.startsWith("@") ? 2 : 1)
      .join("/");
  return { files: Object.keys(metafile.inputs), packages: [...new Set(outside.map(({ path }) => name(path)))] };
}

function notCarried(files: readonly string[], contents: readonly { readonly from: string }[]): readonly string[] {
  return files.filter((file) => !contents.some(({ from }) => file === from || file.startsWith(`${from}/`)));
}

describe("an image carries all that its program loads", () => {
  test("the manager on Node", async () => {
    const { files, packages } = await needsOf("src/manager/node-main.ts");
    const { contents, packages: carried } = IMAGES["lastcall-manager-node"];
    expect(notCarried(files, contents)).toEqual([]);
    expect(packages.filter((name) => !carried.some((one) => one === name))).toEqual([]);
    for (const name of carried) expect(existsSync(join(ROOT, "node_modules", name))).toBe(true);
  });

  test("the webhook", async () => {
    const { files, packages } = await needsOf("src/lastcall.ts");
    expect(notCarried(files, IMAGES["lastcall-webhook"].contents)).toEqual([]);
    const carried = productionPackages(ROOT);
    expect(packages.filter((name) => !carried.includes(`node_modules/${name}`))).toEqual([]);
  });
});

test("packages that only developers need are not carried", () => {
  const carried = productionPackages(ROOT);
  for (const name of ["vitest", "typescript", "esbuild", "fast-check"])
    expect(carried).not.toContain(`node_modules/${name}`);
});
