import type { ChildProcess } from "node:child_process";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startNode, stop } from "./observation-room.ts";

/** A Pod and its client, each in a network namespace of its own that ends with its process. */
const POD = "10.111.0.1";
const CLIENT = "10.111.0.2";

const refusal = spawnSync("unshare", ["-n", "true"], { encoding: "utf8" });
const mayIsolate = refusal.status === 0 && spawnSync("ip", ["-V"]).status === 0;
if (!mayIsolate) process.stdout.write(`skipped: no network namespaces here: ${refusal.stderr ?? refusal.error}\n`);

const ROOM = new URL("./observation-room.ts", import.meta.url).href;

/** Serves on all addresses, `/slow` not before it is told to; tells one look as JSON per line of input. */
const POD_PROGRAM = `
import { createServer } from "node:http"; import { createInterface } from "node:readline"; import { readFileSync, writeSync } from "node:fs";
import { watching } from ${JSON.stringify(ROOM)};
const look = watching({ kubeletProbes: [] });
let slow;
const server = createServer({ keepAliveTimeout: 60000 }, (req, res) => {
  if (req.url === "/slow") slow = res; else res.end("x"); });
// Until the kernel shows no connection of port 8080 (1F90) beside the listener (state 0A).
const settle = () => / [0-9A-F]+:1F90 [0-9A-F]+:[0-9A-F]+ (?!0A)/.test(readFileSync("/proc/self/net/tcp6", "utf8"))
  ? setTimeout(settle, 5) : writeSync(1, "settled\\n");
const answer = () => slow === undefined ? setTimeout(answer, 5) : slow.end("x", () => writeSync(1, "answered\\n"));
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "look") writeSync(1, JSON.stringify(look()) + "\\n");
  if (line === "settle") settle();
  if (line === "answer") answer();
  if (line === "listen") server.listen(8080, "::", () => writeSync(1, "listening\\n"));
});
writeSync(1, "ready\\n");`;

/** Performs one thing per line of input, and says when it is done. */
const CLIENT_PROGRAM = `
import { Agent, get } from "node:http"; import { createInterface } from "node:readline"; import { writeSync } from "node:fs";
const kept = new Agent({ keepAlive: true });
const once = (path, agent) => new Promise((done) => get({ host: "${POD}", port: 8080, path, agent }, (res) => res.resume().on("end", done)));
createInterface({ input: process.stdin }).on("line", async (line) => {
  if (line === "kept") await once("/", kept);
  if (line === "slow") once("/slow", kept);
  if (line === "short") for (let n = 0; n < 3; n += 1) { const agent = new Agent({ keepAlive: true }); await once("/", agent); agent.destroy(); }
  writeSync(1, "done\\n");
});
writeSync(1, "ready\\n");`;

// One Pod's story: each look is judged by what the looks before it saw.
describe.skipIf(!mayIsolate)("a Pod with a network namespace of its own", { timeout: 60_000, shuffle: false }, () => {
  let pod: ChildProcess;
  let client: ChildProcess;

  beforeAll(async () => {
    pod = (await startNode(POD_PROGRAM, [], ["unshare", "-n"])).child;
    client = (await startNode(CLIENT_PROGRAM, [], ["unshare", "-n"])).child;
    inside(pod, "link", "set", "lo", "up");
    inside(pod, "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", String(client.pid));
    for (const [side, address, link] of [
      [pod, POD, "v0"],
      [client, CLIENT, "v1"],
    ] as const) {
      inside(side, "addr", "add", `${address}/24`, "dev", link);
      inside(side, "link", "set", link, "up");
    }
    expect(await ask(pod, "listen")).toBe("listening");
  }, 60_000);

  afterAll(async () => {
    await stop(pod);
    await stop(client);
  });

  test("is quiet with a listener on all addresses of both families", async () => {
    expect(await look(pod)).toMatchObject({
      known: true,
      hasTcpListener: true,
      hasUdp: false,
      activity: "quiet",
      openConnections: 0,
    });
  });

  test("notices connections that came and went without a trace", async () => {
    await look(pod);
    await ask(client, "short");
    expect(await ask(pod, "settle")).toBe("settled");
    const seen = await look(pod);
    expect(seen).toMatchObject({
      activity: "quiet",
      openConnections: 0,
      evidenceSource: "passive-opens",
      lastEvidenceMs: seen["atMs"],
    });
  });

  test("sees the request of an outside client, with its address as IPv4", async () => {
    await ask(client, "kept");
    expect(await look(pod)).toMatchObject({
      openConnections: 1,
      left: [{ local: `${POD}:8080`, peer: expect.stringContaining(`${CLIENT}:`) }],
    });
    await ask(client, "slow");
    // An ambiguous order of the answered request is no calm either; only an open request is evidence of this very moment.
    let seen = await look(pod);
    while (seen["lastEvidenceMs"] !== seen["atMs"]) seen = await look(pod);
    expect(seen).toMatchObject({ activity: "busy", openConnections: 1 });
    expect(await ask(pod, "answer")).toBe("answered");
  });

  test("finds no evidence where nothing happened between two looks", async () => {
    let seen = await look(pod);
    while (seen["activity"] !== "quiet") seen = await look(pod);
    expect((await look(pod))["lastEvidenceMs"]).toBe(seen["lastEvidenceMs"]);
  });
});

function inside(child: ChildProcess, ...words: readonly string[]): void {
  const ran = spawnSync("nsenter", ["-t", String(child.pid), "-n", "ip", ...words], { encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`ip ${words.join(" ")}: ${ran.stderr}`);
}

async function ask(child: ChildProcess, line: string): Promise<string> {
  if (child.stdin === null || child.stdout === null) throw new Error("the child has no pipes");
  const answer = once(child.stdout, "data");
  child.stdin.write(`${line}\n`);
  const [text] = (await answer) as [Buffer];
  return text.toString().trim();
}

async function look(pod: ChildProcess): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = JSON.parse(await ask(pod, "look"));
  return seen;
}
