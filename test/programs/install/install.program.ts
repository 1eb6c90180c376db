import { describe, expect, test } from "vitest";
import { attempt } from "../../../e2e/host/run.ts";
import { requireProgram } from "./program-of.ts";
import { PROGRAMS, type ProgramName } from "./program-table.ts";

const VERSION_ARGUMENTS: Readonly<Partial<Record<ProgramName, readonly string[]>>> = {
  nginx: ["-v"],
  haproxy: ["-v"],
  apache: ["-v"],
  lighttpd: ["-v"],
  caddy: ["version"],
  puma: ["--version"],
  passenger: ["--version"],
  gunicorn: ["--version"],
  uvicorn: ["--version"],
  granian: ["--version"],
  node: ["--version"],
  "envoy-1.36": ["--version"],
  "envoy-1.40": ["--version"],
};

// Installs all programs before the first measurement of a run.
describe("every program of the tests", () => {
  test.for(Object.keys(PROGRAMS) as ProgramName[])("has the reported version: %s", async (name, context) => {
    const { command, environment, version } = await requireProgram(name, context);
    const [program = "", ...args] = command;
    const versionArguments = VERSION_ARGUMENTS[name];
    expect(version).toMatch(/^[0-9]/);
    if (versionArguments === undefined) return;
    const { output, stderr } = await attempt(program, [...args, ...versionArguments], {
      env: { ...process.env, ...environment },
    });
    expect(output + stderr).toContain(version);
  });
});
