/** The manager's two builds, one table: the same source on Node, and compiled ahead of time. */
import { describe, inject } from "vitest";

export type Build = {
  readonly name: "Node" | "native";
  readonly command: string;
  /** Before the manager's own words. */
  readonly args: readonly string[];
};

const MAIN = new URL("compiled-once.mjs", import.meta.url).pathname;
const CLOCK = new URL("../clock/on-node.mjs", import.meta.url).pathname;

export const NODE_BUILD: Build = { name: "Node", command: process.execPath, args: [MAIN] };
/** Its command is empty where it is not tried; the reason was printed before the tests. */
export const NATIVE_BUILD: Build = {
  name: "native",
  // Another binary may be put to the same cases, such as one under sanitizers.
  command: process.env["LASTCALL_MANAGER_BINARY"] ?? inject("nativeManager"),
  args: [],
};
export const BUILDS: readonly Build[] = [NODE_BUILD, NATIVE_BUILD];

/** Both on a clock that the test moves. */
export const CLOCKED_NODE_BUILD: Build = { ...NODE_BUILD, args: [`--import=${CLOCK}`, MAIN] };
export const CLOCKED_NATIVE_BUILD: Build = { ...NATIVE_BUILD, command: inject("clockedManager") };

/** One group of cases per build; process cases wait for real time on a machine that others use too. */
export function describeBuilds(title: string, cases: (build: Build) => void, builds = BUILDS): void {
  for (const build of builds) if (build.command !== "") describe(`${title} (${build.name} build)`, () => cases(build));
}

/** For cases that need both at once. */
export const describeBoth = describe.skipIf(NATIVE_BUILD.command === "");
