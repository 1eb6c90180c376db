import { describe, expect, test } from "vitest";
import { attempt } from "../../../e2e/host/run.ts";
import { requiredProgram } from "./program-of.ts";
import { PROGRAMS, type ProgramName } from "./program-table.ts";

/** How each is asked for its version; those that are not here cannot be asked. */
const ASKED: Readonly<Partial<Record<ProgramName, readonly string[]>>> = {
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

// All of them, so that what the parts of a run need is there before anything is measured.
describe("every program", () => {
  test.for(Object.keys(PROGRAMS) as ProgramName[])("can be had: %s", async (name, context) => {
    const { command, environment, version } = await requiredProgram(name, context);
    const [program = "", ...args] = command;
    const words = ASKED[name];
    expect(version).toMatch(/^[0-9]/);
    if (words === undefined) return;
    const { output, complaint } = await attempt(program, [...args, ...words], {
      env: { ...process.env, ...environment },
    });
    expect(output + complaint).toContain(version);
  });
});
