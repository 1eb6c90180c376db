import { expect, test } from "vitest";
import { type MachinePorts, startProblems } from "../../src/demo/rollout/own-deployment.ts";

const MACHINE: MachinePorts = {
  isProgram: (path) => path === "/usr/bin/python3" || path === "/srv/app/server" || path === "/opt/bin/tool",
  isFolder: (path) => path === "/home/me" || path === "/srv/app",
  directory: "/home/me",
  searchPath: "/usr/local/bin:/usr/bin",
};

const problemsOf = (container: object) =>
  startProblems({ spec: { template: { spec: { containers: [{ name: "web", ...container }] } } } }, MACHINE);

test.for([
  { title: "a program in PATH", container: { command: ["python3", "-m", "http.server"] } },
  { title: "a program with an absolute path", container: { command: ["/srv/app/server"] } },
  { title: "a program relative to its workingDir", container: { command: ["./server"], workingDir: "/srv/app" } },
  {
    title: "a program in the container's own PATH",
    container: { command: ["tool"], env: [{ name: "PATH", value: "/opt/bin" }] },
  },
  { title: "a program from a variable", container: { command: ["$(SHELL)"] } },
])("a container with $title can start", ({ container }) => {
  expect(problemsOf(container)).toEqual([]);
});

test("a container whose program is not in PATH is reported", () => {
  expect(problemsOf({ command: ["ruby"] })).toEqual([
    "Container web runs ruby, which is not in PATH; install it or change the command.",
  ]);
});

test("a container whose program is not an executable file is reported", () => {
  expect(problemsOf({ command: ["./server"] })).toEqual([
    "Container web runs ./server, which is not an executable file on this machine; install it or change the command.",
  ]);
});

test("a container whose workingDir does not exist is reported", () => {
  expect(problemsOf({ command: ["python3"], workingDir: "/nope" })).toEqual([
    "Container web has the workingDir /nope, which is not a directory on this machine; create it or change the workingDir.",
  ]);
});
