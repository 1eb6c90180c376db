import { describe, expect, test } from "vitest";
import { attempt } from "../../cluster/host/run.ts";
import type { ProgramName } from "./program-table.ts";
import { requiredProgram } from "./required-program.ts";

/** How each is asked for its version; Hypercorn cannot be. */
const ASKED: readonly (readonly [ProgramName, readonly string[]])[] = [
  ["nginx", ["-v"]],
  ["haproxy", ["-v"]],
  ["apache", ["-v"]],
  ["lighttpd", ["-v"]],
  ["caddy", ["version"]],
  ["puma", ["--version"]],
  ["passenger", ["--version"]],
  ["gunicorn", ["--version"]],
  ["uvicorn", ["--version"]],
  ["granian", ["--version"]],
  ["envoy-1.36", ["--version"]],
  ["envoy-1.40", ["--version"]],
];

describe("an installed program", () => {
  test.for(ASKED)("%s says the version that its package has", async ([name, words], context) => {
    const { command, environment, version } = await requiredProgram(name, context);
    const [program = "", ...args] = command;
    const { output, complaint } = await attempt(program, [...args, ...words], {
      env: { ...process.env, ...environment },
    });
    expect(version).not.toBe("");
    expect(output + complaint).toContain(version);
  });
});
