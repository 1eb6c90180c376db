import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startNode, stopProcess } from "./observation-room.ts";
import { CLIENT_ADDRESS, canIsolate, joinNetworks, POD_ADDRESS } from "./own-network.ts";

const SAMPLER_MODULE = new URL("./observation-room.ts", import.meta.url).href;

/** Runs one command per line of input: `sample` prints an observation as JSON, `answer` responds to the open request of `/slow`. */
const POD_PROGRAM = `
import { createServer } from "node:http"; import { createInterface } from "node:readline"; import { readFileSync, writeSync } from "node:fs";
import { createSampler } from ${JSON.stringify(SAMPLER_MODULE)};
const sample = createSampler({ kubeletProbes: [] });
let slow;
const server = createServer({ keepAliveTimeout: 60000 }, (req, res) => {
  if (req.url === "/slow") slow = res; else res.end("x"); });
// Waits until the listener (state 0A) is the only socket of port 8080 (1F90) that the kernel lists.
const settle = () => / [0-9A-F]+:1F90 [0-9A-F]+:[0-9A-F]+ (?!0A)/.test(readFileSync("/proc/self/net/tcp6", "utf8"))
  ? setTimeout(settle, 5) : writeSync(1, "settled\\n");
const answer = () => slow === undefined ? setTimeout(answer, 5) : slow.end("x", () => writeSync(1, "answered\\n"));
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "sample") writeSync(1, JSON.stringify(sample()) + "\\n");
  if (line === "settle") settle();
  if (line === "answer") answer();
  if (line === "listen") server.listen(8080, "::", () => writeSync(1, "listening\\n"));
});
writeSync(1, "ready\\n");`;

/** Runs one command per line of input, and prints `done`. */
const CLIENT_PROGRAM = `
import { Agent, get } from "node:http"; import { createInterface } from "node:readline"; import { writeSync } from "node:fs";
const kept = new Agent({ keepAlive: true });
const once = (path, agent) => new Promise((done) => get({ host: "${POD_ADDRESS}", port: 8080, path, agent }, (res) => res.resume().on("end", done)));
createInterface({ input: process.stdin }).on("line", async (line) => {
  if (line === "kept") await once("/", kept);
  if (line === "slow") once("/slow", kept);
  if (line === "short") for (let n = 0; n < 3; n += 1) { const agent = new Agent({ keepAlive: true }); await once("/", agent); agent.destroy(); }
  writeSync(1, "done\\n");
});
writeSync(1, "ready\\n");`;

// The tests depend on their order: an observation includes the state of earlier samples.
describe.skipIf(!canIsolate)("a Pod in a separate network namespace", { timeout: 60_000, shuffle: false }, () => {
  let pod: ChildProcess;
  let client: ChildProcess;

  beforeAll(async () => {
    pod = (await startNode(POD_PROGRAM, [], ["unshare", "-n"])).child;
    client = (await startNode(CLIENT_PROGRAM, [], ["unshare", "-n"])).child;
    joinNetworks(pod, client);
    expect(await sendCommand(pod, "listen")).toBe("listening");
  }, 60_000);

  afterAll(async () => {
    await stopProcess(pod);
    await stopProcess(client);
  });

  test("is quiet with a listener on all addresses of IPv4 and IPv6", async () => {
    expect(await sample(pod)).toMatchObject({
      known: true,
      hasTcpListener: true,
      hasUdp: false,
      activity: "quiet",
      openConnections: 0,
    });
  });

  test("is not quiet if connections opened and closed between two samples", async () => {
    await sample(pod);
    await sendCommand(client, "short");
    expect(await sendCommand(pod, "settle")).toBe("settled");
    const observation = await sample(pod);
    expect(observation).toMatchObject({
      activity: "quiet",
      openConnections: 0,
      evidenceSource: "passive-opens",
      lastEvidenceMs: observation["atMs"],
    });
  });

  test("is busy during the request of a client, whose address has IPv4 form", async () => {
    await sendCommand(client, "kept");
    expect(await sample(pod)).toMatchObject({
      openConnections: 1,
      left: [{ local: `${POD_ADDRESS}:8080`, peer: expect.stringContaining(`${CLIENT_ADDRESS}:`) }],
    });
    await sendCommand(client, "slow");
    // A sample also reports the connection as busy if the order of an earlier request and its response is unknown. Only evidence
    // with the time of the sample proves that a request is open.
    let observation = await sample(pod);
    while (observation["lastEvidenceMs"] !== observation["atMs"]) observation = await sample(pod);
    expect(observation).toMatchObject({ activity: "busy", openConnections: 1 });
    expect(await sendCommand(pod, "answer")).toBe("answered");
  });

  test("does not have new evidence of traffic after a time without connections and data", async () => {
    let observation = await sample(pod);
    while (observation["activity"] !== "quiet") observation = await sample(pod);
    expect((await sample(pod))["lastEvidenceMs"]).toBe(observation["lastEvidenceMs"]);
  });
});

async function sendCommand(child: ChildProcess, line: string): Promise<string> {
  if (child.stdin === null || child.stdout === null) throw new Error("the child has no pipes");
  const output = once(child.stdout, "data");
  child.stdin.write(`${line}\n`);
  const [text] = (await output) as [Buffer];
  return text.toString().trim();
}

async function sample(pod: ChildProcess): Promise<Record<string, unknown>> {
  const observation: Record<string, unknown> = JSON.parse(await sendCommand(pod, "sample"));
  return observation;
}
