import { describe, expect, test } from "vitest";
import { attempt } from "../../cluster/host/run.ts";
import type { ProgramName } from "./program-table.ts";
import { requiredProgram } from "./required-program.ts";

/** How each is asked for its version. Every program has a row: what the parts of a run need is installed before them. */
const ASKED: Readonly<Record<ProgramName, readonly string[] | "cannot be asked">> = {
  nginx: ["-v"],
  haproxy: ["-v"],
  apache: ["-v"],
  lighttpd: ["-v"],
  caddy: ["version"],
  puma: ["--version"],
  passenger: ["--version"],
  rabbitmq: "cannot be asked",
  gunicorn: ["--version"],
  uvicorn: ["--version"],
  hypercorn: "cannot be asked",
  granian: ["--version"],
  grpcio: "cannot be asked",
  pika: "cannot be asked",
  node: ["--version"],
  fastify: "cannot be asked",
  go: "cannot be asked",
  "envoy-1.36": ["--version"],
  "envoy-1.40": ["--version"],
};

describe("every program", () => {
  test.for(Object.entries(ASKED) as [ProgramName, (typeof ASKED)[ProgramName]][])(
    "can be had: %s, in the version that its package has",
    async ([name, words], context) => {
      const { command, environment, version } = await requiredProgram(name, context);
      const [program = "", ...args] = command;
      expect(version).toMatch(/^[0-9]/);
      if (words === "cannot be asked") return;
      const { output, complaint } = await attempt(program, [...args, ...words], {
        env: { ...process.env, ...environment },
      });
      expect(output + complaint).toContain(version);
    },
  );
});
