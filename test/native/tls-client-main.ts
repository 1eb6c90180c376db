/** The whole manager and a TLS client in one program: `ask HOST PORT CA-FILE NAME` asks a server, all else is the manager. */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:tls";
import { nativeLibc } from "../../src/manager/native-libc.ts";
import { processOutside } from "../../src/manager/process-outside.ts";
import { runManager } from "../../src/manager/program.ts";

const LIMIT_MS = 5_000;

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
  runManager(args, processOutside(nativeLibc), (onStop) => {
    process.on("SIGTERM", () => onStop());
  });
