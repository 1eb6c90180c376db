/** The whole manager and a TLS client in one program: `ask HOST PORT CA-FILE NAME` asks a server, all else is the manager. */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:tls";
import { environmentOf } from "../../src/manager/outside.ts";
import type { Libc } from "../../src/manager/ports.ts";
import { runManager } from "../../src/manager/program.ts";
import { readTextFile } from "../../src/manager/read-text.ts";

const LIMIT_MS = 5_000;

const noLibc: Libc = {
  available: false,
  socket: () => -1,
  send: () => -1,
  recv: () => -1,
  connect: () => -1,
  setsockopt: () => -1,
  close: () => -1,
};

function ask(host: string, port: number, ca: string, servername: string): void {
  const path = "/";
  const sent = request(
    { path, method: "GET", createConnection: () => connect({ host, port, ca, servername }) },
    (res) => {
      let body = "";
      res.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      res.on("end", () => {
        process.stdout.write(`answered ${res.statusCode ?? 0} ${body}\n`);
        process.exit(0);
      });
    },
  );
  sent.setTimeout(LIMIT_MS, () => {
    sent.destroy();
  });
  sent.on("error", (error) => {
    process.stdout.write(`refused ${error.message}\n`);
    process.exit(1);
  });
  sent.end();
}

const args = process.argv.slice(2);
if (args[0] === "ask") ask(args[1] ?? "", Number(args[2] ?? "0"), readFileSync(args[3] ?? "", "utf8"), args[4] ?? "");
else
  runManager(
    args,
    {
      environment: environmentOf((name) => process.env[name]),
      libc: noLibc,
      readText: readTextFile,
      nowMs: () => performance.now(),
      log: (line) => {
        process.stdout.write(`${line}\n`);
      },
      complain: (line) => {
        process.stderr.write(`${line}\n`);
      },
      exit: (code) => process.exit(code),
    },
    (onStop) => {
      process.on("SIGTERM", () => onStop());
    },
  );
