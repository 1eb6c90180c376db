/** Node itself, and servers of it that this project has among its packages. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Program } from "./program-of.ts";
import type { ProgramSource } from "./program-table.ts";

type NodeSource = Extract<ProgramSource, { from: "node" }>;

const PACKAGES = join(import.meta.dirname, "../../../node_modules");

/** Its command is the interpreter; what it runs is the row's. */
export async function nodeProgram(source: NodeSource): Promise<Program> {
  const found = { kind: "found", command: [process.execPath], environment: {}, source: "npm" } as const;
  if (source.package === undefined) return { ...found, version: process.versions.node };
  const text = await readFile(join(PACKAGES, source.package, "package.json"), "utf8");
  return { ...found, version: JSON.parse(text).version };
}
