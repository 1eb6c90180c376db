/** Finds the files of the manager's image among those built on this machine. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const NATIVE_MANAGER = here("build/native/lastcall");
const NODE_MANAGER = here("src/manager/node-main.ts");
const LIBRARY = here(`build/native/lastcall-preload-${process.arch}.so`);

export type ManagerImage = {
  /** The native build where there is one. */
  readonly manager: "native" | "node";
  readonly managerProgram: readonly string[];
  /** Empty where it was not built. */
  readonly preloadLibrary: string;
};

export function localManagerImage(): ManagerImage {
  const native = existsSync(NATIVE_MANAGER);
  return {
    manager: native ? "native" : "node",
    managerProgram: native ? [NATIVE_MANAGER] : [process.execPath, NODE_MANAGER],
    preloadLibrary: existsSync(LIBRARY) ? LIBRARY : "",
  };
}
