/**
 * A Pod's network namespace with a manager and an app. The Pod drains once. The app resets one connection during the drain, and at
 * its stop resets two connections and refuses one. Prints the manager's log. Arguments: a flag of the manager, and its command.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect, createServer, type Server } from "node:net";
import { createInterface } from "node:readline";

const APP_PORT = 8_080;
const PORT = 17_890;
const TOKEN = "t0ken-of-this-test";

if (spawnSync("ip", ["link", "set", "lo", "up"]).status !== 0) throw new Error("cannot set the loopback device up");
const [flag = "", command = "", ...managerArguments] = process.argv.slice(2);
const app: Server = createServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
await new Promise<void>((resolve) => app.listen(APP_PORT, "0.0.0.0", resolve));

const manager = spawn(command, [...managerArguments, "serve", "--drain-delay=500ms", "--quiet-period=100ms", flag], {
  env: { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: TOKEN },
  stdio: ["ignore", "pipe", "inherit"],
});
const exit = once(manager, "exit");
const log = createInterface({ input: manager.stdout });
const untilLogged = (text: string): Promise<void> =>
  new Promise((resolve) => {
    log.on("line", (line) => {
      if (line.includes(text)) resolve();
    });
  });
log.on("line", (line) => process.stdout.write(`${line}\n`));

await untilLogged('"listening"');
const withdrawal = untilLogged('"phase":"withdrawing"');
const drainCall = requestDrain();
await withdrawal;
await sendToApp();
// A classic manager answers its own hook only after the app's port has closed.
if (flag === "--classic") app.close();
await drainCall;
await sendToApp();
await sendToApp();
if (app.listening) {
  app.close();
  await once(app, "close");
}
await sendToApp();
manager.kill("SIGTERM");
await exit;

function requestDrain(): Promise<unknown> {
  const drainRequest = request({ host: "127.0.0.1", port: PORT, path: `/${TOKEN}/drain`, method: "POST" });
  drainRequest.end();
  return once(drainRequest, "response").then(([response]) => once(response.resume(), "end"));
}

/** Resolves when the app has reset or refused the connection. */
async function sendToApp(): Promise<void> {
  const socket = connect(APP_PORT, "127.0.0.1");
  socket.on("connect", () => socket.write("x"));
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("close", resolve));
}
