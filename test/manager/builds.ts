/** Lists the manager's two builds: on Node, and compiled ahead of time. */
import { describe, inject } from "vitest";

export type Build = {
  readonly name: "Node" | "native";
  readonly command: string;
  /** Arguments of the command that precede the manager's arguments. */
  readonly args: readonly string[];
};

const NODE_MAIN = new URL("compiled-once.mjs", import.meta.url).pathname;
const CLOCK_MODULE = new URL("../clock/on-node.mjs", import.meta.url).pathname;

export const NODE_BUILD: Build = { name: "Node", command: process.execPath, args: [NODE_MAIN] };
/** The command is empty if the build is skipped; the setup prints the reason. */
export const NATIVE_BUILD: Build = {
  name: "native",
  // An environment variable selects another binary for the same tests, such as a binary with sanitizers.
  command: process.env["LASTCALL_MANAGER_BINARY"] ?? inject("nativeManager"),
  args: [],
};
export const BUILDS: readonly Build[] = [NODE_BUILD, NATIVE_BUILD];

export const CLOCKED_NODE_BUILD: Build = { ...NODE_BUILD, args: [`--import=${CLOCK_MODULE}`, NODE_MAIN] };
export const CLOCKED_NATIVE_BUILD: Build = { ...NATIVE_BUILD, command: inject("clockedManager") };

export function describeBuilds(title: string, cases: (build: Build) => void, builds = BUILDS): void {
  for (const build of builds) if (build.command !== "") describe(`${title} (${build.name} build)`, () => cases(build));
}

export const describeIfBothBuilds = describe.skipIf(NATIVE_BUILD.command === "");
