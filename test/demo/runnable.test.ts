import { expect, test } from "vitest";
import { type MachinePorts, unrunnable } from "../../src/demo/rollout/own-deployment.ts";

const MACHINE: MachinePorts = {
  isProgram: (path) => path === "/usr/bin/python3" || path === "/srv/app/server" || path === "/opt/bin/tool",
  isFolder: (path) => path === "/home/me" || path === "/srv/app",
  directory: "/home/me",
  searchPath: "/usr/local/bin:/usr/bin",
};

const problemsOf = (container: object) =>
  unrunnable({ spec: { template: { spec: { containers: [{ name: "web", ...container }] } } } }, MACHINE);

test.for([
  { says: "a program found in PATH", container: { command: ["python3", "-m", "http.server"] } },
  { says: "a program at its path", container: { command: ["/srv/app/server"] } },
  { says: "a program below its workingDir", container: { command: ["./server"], workingDir: "/srv/app" } },
  {
    says: "a program in a PATH of its own",
    container: { command: ["tool"], env: [{ name: "PATH", value: "/opt/bin" }] },
  },
  { says: "a program named by a variable", container: { command: ["$(SHELL)"] } },
])("$says can run", ({ container }) => {
  expect(problemsOf(container)).toEqual([]);
});

test("a program that is nowhere in PATH is named", () => {
  expect(problemsOf({ command: ["ruby"] })).toEqual([
    "Container web runs ruby, which is in no folder of PATH; install it or name another command.",
  ]);
});

test("a path that leads to no program is named", () => {
  expect(problemsOf({ command: ["./server"] })).toEqual([
    "Container web runs ./server, which is no program here; install it or name another command.",
  ]);
});

test("a workingDir that does not exist is named", () => {
  expect(problemsOf({ command: ["python3"], workingDir: "/nope" })).toEqual([
    "Container web has the workingDir /nope, which is no folder here.",
  ]);
});
