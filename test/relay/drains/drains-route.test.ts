import { connect, createSecureContext } from "node:tls";
import { Registry } from "prom-client";
import { generate } from "selfsigned";
import { describe, expect, test } from "vitest";
import type { DrainReport } from "../../../src/contract/drain-report.ts";
import { drainMetrics, NAMESPACES_LIMIT } from "../../../src/relay/metrics.ts";
import { CLIENT, someDrain, someReport } from "../../drain-history/some-drain.ts";
import { AUTHORIZATION, CLAIMS, drainsServer } from "./drains-server.ts";

function notice(report: Partial<DrainReport> = {}, uid = "pod-1"): string {
  return JSON.stringify({ namespace: "shop", pod: "web-1", uid, report: someReport(report) });
}

type Serving = ReturnType<typeof drainsServer>;

function post(serving: Serving, body: string, headers: Record<string, string> = {}) {
  return serving.app.inject({
    method: "POST",
    url: "/v1/drains",
    headers: { authorization: AUTHORIZATION, "content-type": "application/json", ...headers },
    body,
  });
}

test("a report is stored, counted, logged, recorded as an Event, and gets status 204", async () => {
  const serving = drainsServer();
  const answer = await post(serving, notice({ outcome: "timeout", left: [CLIENT], leftTotal: 27 }));
  expect([answer.statusCode, answer.body]).toEqual([204, ""]);
  expect(serving.ring.list()).toMatchObject([
    { id: "id-1", namespace: "shop", pod: "web-1", uid: "pod-1", ownerKind: "ReplicaSet", ownerName: "web-7d9f" },
  ]);
  expect(serving.notes).toMatchObject([{ type: "Warning", reason: "DrainTimeout", owner: { uid: "owner-1" } }]);
  expect(serving.logged).toEqual(["drain reported"]);
  expect(await serving.metric('lastcall_drains_total{outcome="timeout"}')).toMatch(/ 1$/);
  expect(await serving.metric('lastcall_drain_phase_seconds_sum{phase="withdrawing"}')).toMatch(/ 5.01$/);
  expect(await serving.metric('lastcall_drain_connections_left_bucket{le="25"}')).toMatch(/ 0$/);
  expect(await serving.metric('lastcall_drain_connections_left_bucket{le="50"}')).toMatch(/ 1$/);
});

test("only a valid report ends the search for a lost drain of its Pod", async () => {
  const reported: string[] = [];
  const serving = drainsServer({ onReport: ({ uid }) => reported.push(uid) });
  await post(serving, "nonsense");
  await post(serving, notice({}, "pod-2").replace('"shop"', '"other"'));
  expect(reported).toEqual([]);
  await post(serving, notice({}, "pod-2"));
  expect(reported).toEqual(["pod-2"]);
});

test("a drain with the outcome lost is counted, and is not in the histogram of durations", async () => {
  const registry = new Registry();
  drainMetrics(registry)(someDrain({ report: { ...someReport(), outcome: "lost" } }));
  const text = await registry.metrics();
  expect(text).toContain('lastcall_drains_total{outcome="lost"} 1');
  expect(text).toContain('lastcall_incomplete_drains_total{outcome="lost",pod_namespace="shop"} 1');
  expect(text).toContain('lastcall_drain_phase_seconds_count{phase="withdrawing"} 0');
  expect(text).toContain("lastcall_drain_connections_left_count 0");
});

test("every outcome, phase and refusal reason has a metric before the first report", async () => {
  const { registry } = drainsServer();
  const text = await registry.metrics();
  for (const outcome of ["drained", "blind", "timeout", "not-needed", "restarted", "forced", "lost"]) {
    expect(text).toContain(`lastcall_drains_total{outcome="${outcome}"} 0`);
  }
  for (const reason of ["credential", "namespace", "rate_limited", "too_large", "malformed"]) {
    expect(text).toContain(`lastcall_drain_reports_refused_total{reason="${reason}"} 0`);
  }
  expect(text).toContain('lastcall_drain_phase_seconds_count{phase="deregistration"} 0');
});

test("only a drain with open connections at its end or the outcome blind is counted per namespace", async () => {
  const serving = drainsServer();
  await post(serving, notice({ outcome: "forced" }, "a"));
  await post(serving, notice({ outcome: "blind" }, "b"));
  await post(serving, notice({ outcome: "timeout" }, "c"));
  const text = await serving.registry.metrics();
  expect(text.match(/^lastcall_incomplete_drains_total.*$/gm)).toEqual([
    'lastcall_incomplete_drains_total{outcome="forced",pod_namespace="shop"} 1',
    'lastcall_incomplete_drains_total{outcome="blind",pod_namespace="shop"} 1',
  ]);
});

test("the number of namespaces in the metrics of drains is limited", async () => {
  const registry = new Registry();
  const countDrain = drainMetrics(registry);
  const report = someReport({ outcome: "forced" });
  for (let at = 0; at < NAMESPACES_LIMIT + 5; at += 1) countDrain(someDrain({ namespace: `team-${at}`, report }));
  countDrain(someDrain({ namespace: "team-0", report }));
  const lines = (await registry.metrics()).match(/^lastcall_incomplete_drains_total.*$/gm) ?? [];
  expect(lines).toHaveLength(NAMESPACES_LIMIT + 1);
  expect(lines[0]).toBe('lastcall_incomplete_drains_total{outcome="forced",pod_namespace="team-0"} 2');
  expect(lines.at(-1)).toBe('lastcall_incomplete_drains_total{outcome="forced",pod_namespace="_other"} 5');
});

test("a drain with the outcome restarted is counted, and is not in the histogram of durations", async () => {
  const serving = drainsServer();
  const nothing = { withdrawing: 0, deregistration: 0, draining: 0, holding: 0 };
  await post(serving, notice({ outcome: "restarted", trigger: "none", milliseconds: nothing }));
  expect(await serving.metric('lastcall_drains_total{outcome="restarted"}')).toMatch(/ 1$/);
  expect(await serving.metric('lastcall_drain_phase_seconds_count{phase="draining"}')).toMatch(/ 0$/);
  expect(await serving.metric("lastcall_drain_connections_left_count")).toMatch(/ 0$/);
  expect(serving.ring.list()).toHaveLength(1);
});

test("a repeated report is counted once and recorded as one Event", async () => {
  const serving = drainsServer();
  for (let times = 0; times < 3; times += 1) expect((await post(serving, notice())).statusCode).toBe(204);
  expect(serving.ring.list()).toHaveLength(1);
  expect(serving.notes).toHaveLength(1);
  expect(await serving.metric('lastcall_drains_total{outcome="drained"}')).toMatch(/ 1$/);
  serving.clock.wallMs += 61_000;
  await post(serving, notice());
  expect(serving.ring.list()).toHaveLength(2);
});

test.for([
  { title: "no header", authorization: undefined },
  { title: "an empty header", authorization: "" },
  { title: "another scheme", authorization: "Bearer good" },
  { title: "a forged credential", authorization: "Lastcall bad" },
])("a report with $title gets status 401, and its body is not read", async ({ authorization }) => {
  const serving = drainsServer();
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const answer = await serving.app.inject({ method: "POST", url: "/v1/drains", headers, body: "x".repeat(100_000) });
  expect(answer.statusCode).toBe(401);
  expect(answer.headers["connection"]).toBe("close");
  expect(serving.ring.list()).toEqual([]);
  expect(await serving.metric('lastcall_drain_reports_refused_total{reason="credential"}')).toMatch(/ 1$/);
});

test("a report whose namespace is not the credential's gets status 403", async () => {
  const serving = drainsServer();
  const body = JSON.stringify({ ...JSON.parse(notice()), namespace: "bank" });
  const answer = await post(serving, body);
  expect([answer.statusCode, answer.body]).toEqual([403, "The credential is for namespace shop and not for bank.\n"]);
  expect(serving.ring.list()).toEqual([]);
  expect(serving.notes).toEqual([]);
  expect(await serving.metric('lastcall_drain_reports_refused_total{reason="namespace"}')).toMatch(/ 1$/);
});

describe("a malformed report gets status 400 and a message:", () => {
  test.for([
    { title: "no body", body: "", sentence: "The body is not JSON.\n" },
    { title: "half a body", body: notice().slice(0, 99), sentence: "The body is not JSON.\n" },
    { title: "brackets to the limit", body: "[".repeat(16_384), sentence: "The body is not JSON.\n" },
    { title: "an empty object", body: "{}", sentence: "namespace: nothing is not the name of a namespace.\n" },
    {
      title: "a number beyond its limit",
      body: notice().replace('"draining":2240', '"draining":1e308'),
      sentence: "report.milliseconds.draining: 1e+308 is not a number from 0 to 100000000000.\n",
    },
    {
      title: "a number that JSON cannot hold",
      body: notice().replace('"draining":2240', '"draining":NaN'),
      sentence: "The body is not JSON.\n",
    },
    {
      title: "markup as a Pod name",
      body: notice().replace('"web-1"', '"<script>alert(1)</script>"'),
      sentence: 'pod: "<script>alert(1)</script>" is not the name of a Pod.\n',
    },
    {
      title: "more connections than a report has",
      body: notice().replace('"left":[]', `"left":[${Array.from({ length: 8_000 }, () => 0).join()}]`),
      sentence: "report.left: has 8000 entries, more than the limit of 20.\n",
    },
  ])("$title", async ({ body, sentence }) => {
    const serving = drainsServer();
    const answer = await post(serving, body);
    expect([answer.statusCode, answer.body]).toEqual([400, sentence]);
    expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(serving.ring.list()).toEqual([]);
    expect(await serving.metric('lastcall_drain_reports_refused_total{reason="malformed"}')).toMatch(/ 1$/);
  });
});

test("a report of 16 KiB is read, and one byte more gets status 413", async () => {
  const serving = drainsServer();
  const whole = notice();
  expect((await post(serving, whole.padEnd(16 * 1024))).statusCode).toBe(204);
  const answer = await post(serving, notice({}, "pod-2").padEnd(16 * 1024 + 1));
  expect([answer.statusCode, answer.body]).toEqual([413, "The report is larger than 16384 bytes.\n"]);
  expect(serving.ring.list()).toHaveLength(1);
  expect(await serving.metric('lastcall_drain_reports_refused_total{reason="too_large"}')).toMatch(/ 1$/);
});

test("a report of a namespace above its rate limit gets status 429, and its body is not read", async () => {
  const requested: string[] = [];
  const takeRequest = (namespace: string): boolean => {
    requested.push(namespace);
    return requested.length < 2;
  };
  const serving = drainsServer({ limits: { takeRequest } });
  expect((await post(serving, "nonsense")).statusCode).toBe(400);
  expect((await post(serving, notice())).statusCode).toBe(429);
  expect(requested).toEqual([CLAIMS.namespace, CLAIMS.namespace]);
  expect(await serving.metric('lastcall_drain_reports_refused_total{reason="rate_limited"}')).toMatch(/ 1$/);
});

test("a report is read as JSON with every content type, and other routes keep their parser", async () => {
  const serving = drainsServer();
  for (const type of ["application/json", "text/plain", "a/b; charset=utf-16"]) {
    expect((await post(serving, notice({}, type.slice(0, 1)), { "content-type": type })).statusCode).toBe(204);
  }
  expect((await post(serving, notice(), { "content-type": "nonsense" })).statusCode).toBe(415);
  const headers = { "content-type": "application/json" };
  const answer = await serving.app.inject({ method: "POST", url: "/mutate", headers, body: "{}" });
  expect(answer.json()).toEqual({ kind: "admission" });
});

test("a fault while a report is stored is logged, and the response is 500 without details", async () => {
  const recordEvent = (): void => {
    throw new Error("secret details");
  };
  const serving = drainsServer({ recordEvent });
  const answer = await post(serving, notice());
  expect([answer.statusCode, answer.body]).toEqual([500, "Internal error; see the log of the relay.\n"]);
  expect(serving.logged).toEqual(["drain reported", "a request to the relay failed"]);
});

test("control characters in the owner of a report's credential are removed", async () => {
  const checkCredential = () => ({ ...CLAIMS, ownerKind: "Re\u001b[2Jplica", ownerName: "a\u202eb" });
  const serving = drainsServer({ checkCredential });
  await post(serving, notice());
  expect(serving.ring.list()[0]).toMatchObject({ ownerKind: "Re?[2Jplica", ownerName: "a?b" });
  expect(serving.notes).toEqual([]);
});

/** Sends raw bytes to a listening server and gathers its answer until the connection ends. */
async function exchange(port: number, bytes: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect({ host: "127.0.0.1", port, servername: "relay", rejectUnauthorized: false }, () => {
      for (const part of bytes) socket.write(part);
    });
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
    });
    // The server may close the connection with the rest unread.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer));
  });
}

describe("over a TCP connection", () => {
  const head = `POST /v1/drains HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\n`;
  const known = `${head}Authorization: ${AUTHORIZATION}\r\n`;

  async function listening() {
    const pair = await generate([{ name: "commonName", value: "relay" }], { keyType: "ec", curve: "P-256" });
    const serving = drainsServer({}, createSecureContext({ cert: pair.cert, key: pair.private }));
    await serving.app.listen({ host: "127.0.0.1", port: 0 });
    const address = serving.app.server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return { serving, port };
  }

  test("a report with an endless chunked body is rejected at the size limit", async () => {
    const { serving, port } = await listening();
    const chunk = `2000\r\n${"x".repeat(8_192)}\r\n`;
    const answer = await exchange(port, [
      `${known}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array<string>(50).fill(chunk),
    ]);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    await serving.app.close();
  });

  test("a report with too large a Content-Length is rejected before the first byte of its body", async () => {
    const { serving, port } = await listening();
    expect(await exchange(port, [`${known}Content-Length: 1000000000\r\n\r\n`])).toMatch(/^HTTP\/1.1 413 /);
    await serving.app.close();
  });

  test("a report without a credential gets its response before the body, and the connection ends", async () => {
    const { serving, port } = await listening();
    expect(await exchange(port, [`${head}Content-Length: 1000\r\n\r\n`])).toMatch(/^HTTP\/1.1 401 /);
    await serving.app.close();
  });

  test("a report whose client disconnects during the body is ignored", async () => {
    const { serving, port } = await listening();
    const socket = connect({ host: "127.0.0.1", port, servername: "relay", rejectUnauthorized: false }, () => {
      socket.write(`${known}Content-Length: 1000\r\n\r\n{"namespace"`, () => socket.destroy());
    });
    await new Promise((resolve) => socket.on("close", resolve));
    const whole = notice();
    const answer = await exchange(port, [
      `${known}Connection: close\r\nContent-Length: ${whole.length}\r\n\r\n${whole}`,
    ]);
    expect(answer).toMatch(/^HTTP\/1.1 204 /);
    expect(serving.ring.list()).toHaveLength(1);
    expect(serving.logged).toEqual(["drain reported"]);
    await serving.app.close();
  });
});
