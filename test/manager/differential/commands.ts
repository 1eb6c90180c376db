/** Scenarios of the command line: commands that exit immediately, and commands that do not reach a manager. */
import { createServer, type Socket } from "node:net";
import { createAuthority, relayEnvironment } from "../fake-relay.ts";
import { PORT } from "../manager-process.ts";
import { ONE_APP, type Scenario } from "./scenario.ts";
import type { SimulatedPod } from "./simulated-pod.ts";

/** Arguments of commands that exit by themselves. */
const ARGUMENT_LISTS: readonly (readonly string[])[] = [
  [],
  [""],
  ["version"],
  ["version", "--port=1"],
  ["--help"],
  ["dance"],
  ["serve", "--port=0"],
  ["serve", "--port=65536"],
  ["serve", "--port=１７８９０"],
  ["serve", "--port"],
  ["serve", "--port=1", "--port=2"],
  ["serve", "--drain-delay=5", "--quiet-period=-1s", "--drain-timeout=1.5h", "--app-grace="],
  ["serve", "--drain-delay=99999999999999999999s", "--deregistration-delay=1 s"],
  ["serve", "--drained-when=never", "--driver=nginx", "--colour=red", "-x", "x"],
  ["serve", "--drain-ports=80,,81", "--ignore-ports=1-2,0"],
  ["serve", "--hooks=app", "--kubelet-probes=80"],
  ["serve", "--hooks=:app,a:b:app,é:mesh", "--kubelet-probes=80:1,x:1s"],
  ["serve", "--completes=yes", "--classic=true"],
  ["drain", "--drain-delay=5s"],
  ["status", "--port=http", "--address-scope"],
  ["status", "x"],
  ["relay-client"],
  ["relay-client", "--port=1"],
];

const INVALID_TOKENS: readonly string[] = ["", "a b", "a/b", "ä", "x".repeat(129), "a\r\nb"];

/** Servers that listen on the manager's port instead of a manager. */
const OTHER_SERVERS: readonly { readonly title: string; readonly respond: (socket: Socket) => void }[] = [
  { title: "never responds", respond: () => {} },
  { title: "closes the connection", respond: (socket) => socket.destroy() },
  { title: "resets the connection", respond: (socket) => socket.resetAndDestroy() },
  { title: "does not support HTTP", respond: (socket) => void socket.end("220 mail ready\r\n") },
  {
    title: "interrupts its response",
    respond: (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"),
  },
  {
    title: "responds with 500",
    respond: (socket) => void socket.end("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}"),
  },
  { title: "sends an endless response", respond: (socket) => void socket.write("x".repeat(100_000)) },
];

async function runBothCommands(pod: SimulatedPod): Promise<void> {
  await Promise.all(["drain", "status"].map((name) => pod.runCommand(name, [name, `--address-scope=${pod.address}`])));
}

async function runWithOtherServer(pod: SimulatedPod, respond: (socket: Socket) => void): Promise<void> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    // If the server closed a socket before reading the request, the kernel would reset the connection.
    socket.once("data", () => respond(socket));
  });
  await new Promise<void>((resolve) => server.listen(PORT, pod.address, resolve));
  await runBothCommands(pod);
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

export const COMMANDS: readonly Scenario[] = [
  {
    title: "the arguments are invalid",
    play: async (pod) => {
      await Promise.all(ARGUMENT_LISTS.map((args) => pod.runCommand(JSON.stringify(args), args)));
    },
  },
  {
    title: "the token is invalid",
    play: async (pod) => {
      const commands = INVALID_TOKENS.flatMap((token) => [
        pod.runCommand(`serve ${token}`, ["serve"], { LASTCALL_TOKEN: token }),
        pod.runCommand(`drain ${token}`, ["drain"], { LASTCALL_TOKEN: token }),
      ]);
      await Promise.all(commands);
    },
  },
  {
    title: "the relay's variables are invalid",
    play: async (pod) => {
      const validVariables = relayEnvironment({ address: "127.0.0.1", port: 8_443 }, await createAuthority());
      const invalidOverrides: readonly Record<string, string>[] = [
        { LASTCALL_RELAY_ADDRESS: "relay:8443" },
        { LASTCALL_RELAY_ADDRESS: "10.0.0.300:8443" },
        { LASTCALL_RELAY_ADDRESS: "fd00::1:8443" },
        { LASTCALL_RELAY_ADDRESS: "[fd00::1]:65536" },
        { LASTCALL_RELAY_NAME: "relay\r\nx" },
        { LASTCALL_RELAY_CA: "not base64" },
        { LASTCALL_RELAY_CA: `${validVariables["LASTCALL_RELAY_CA"]}AAAA` },
        { LASTCALL_RELAY_CREDENTIAL: "one" },
        { LASTCALL_RELAY_CREDENTIAL: "a.b.c\r\nd" },
        { POD_NAME: "" },
        { POD_NAMESPACE: "a/b" },
        { POD_UID: "a b" },
      ];
      await Promise.all(
        invalidOverrides.map((overrides, addressFlag) =>
          pod.runCommand(`wrong ${addressFlag}`, ["relay-client"], { ...validVariables, ...overrides }),
        ),
      );
    },
  },
  {
    title: "no manager is running",
    play: runBothCommands,
  },
  {
    title: "unauthorized calls arrive",
    play: async (pod) => {
      await pod.serve(ONE_APP);
      const addressFlag = `--address-scope=${pod.address}`;
      await pod.runCommand("another token", ["drain", addressFlag], { LASTCALL_TOKEN: "another" });
      for (const path of ["/", "/status", "//status", "/another/status", `/${"x".repeat(4_000)}`, "/%00", "/a?b#c"]) {
        for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
          await pod.send(`${method} ${path}`, path, method);
      }
      await pod.callHook("a container that has no hook", "else");
      await pod.requestStatus("after");
    },
  },
  {
    title: "the manager is killed while the drain command waits for its response",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(["--drain-delay=40s", "--hooks=app:app"]);
      const drainCommand = pod.runCommand("own", ["drain", `--address-scope=${pod.address}`]);
      await pod.untilPhase("withdrawing");
      const hook = pod.callHook("hook");
      await pod.clock.wait(300);
      await pod.stop("SIGKILL");
      await Promise.all([hook, drainCommand]);
    },
  },
];

export const OTHER_SERVER_SCENARIOS: readonly Scenario[] = OTHER_SERVERS.map(({ title, respond }) => ({
  title: `another server on the manager's port ${title}`,
  play: (pod) => runWithOtherServer(pod, respond),
}));
