/** Starts a server on a free port and reads the port from the server's log. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

export type ServerProcess = {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
};

/** Writes the log to a file, because reading a pipe during the measurement would take CPU time. */
export async function startServer(name: string, args: readonly string[], logFile: string): Promise<ServerProcess> {
  const log = openSync(logFile, "w");
  const child = spawn(process.execPath, args, { stdio: ["ignore", log, "inherit"] });
  closeSync(log);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let port = 0;
  for (let polls = 0; port === 0 && polls < 600 && child.exitCode === null; polls += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    port = Number(/"port":([0-9]+)/.exec(readFileSync(logFile, "utf8"))?.[1] ?? 0);
  }
  if (port === 0) {
    child.kill("SIGKILL");
    throw new Error(`${name} ended, or did not log its port within 30 s`);
  }
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { name, port, pid: child.pid ?? 0, stop };
}
