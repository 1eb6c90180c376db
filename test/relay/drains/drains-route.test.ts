import { connect, createSecureContext } from "node:tls";
import { Registry } from "prom-client";
import { generate } from "selfsigned";
import { describe, expect, test } from "vitest";
import type { DrainReport } from "../../../src/contract/drain-report.ts";
import { drainMetrics, NAMESPACES_LIMIT } from "../../../src/relay/metrics.ts";
import { CLIENT, someDrain, someReport } from "../../drain-history/some-drain.ts";
import { AUTHORIZATION, CLAIMS, createDrainsServer } from "./drains-server.ts";

function reportBody(report: Partial<DrainReport> = {}, uid = "pod-1"): string {
  return JSON.stringify({ namespace: "shop", pod: "web-1", uid, report: someReport(report) });
}

type DrainsServer = ReturnType<typeof createDrainsServer>;

function post(server: DrainsServer, body: string, headers: Record<string, string> = {}) {
  return server.app.inject({
    method: "POST",
    url: "/v1/drains",
    headers: { authorization: AUTHORIZATION, "content-type": "application/json", ...headers },
    body,
  });
}

test("a report is stored, counted, logged, recorded as an Event, and gets status 200", async () => {
  const server = createDrainsServer();
  const response = await post(server, reportBody({ outcome: "timeout", left: [CLIENT], leftTotal: 27 }));
  expect([response.statusCode, response.body]).toEqual([200, ""]);
  expect(server.ring.list()).toMatchObject([
    { id: "id-1", namespace: "shop", pod: "web-1", uid: "pod-1", ownerKind: "ReplicaSet", ownerName: "web-7d9f" },
  ]);
  expect(server.recordedEvents).toMatchObject([{ type: "Warning", reason: "DrainTimeout", owner: { uid: "owner-1" } }]);
  expect(server.loggedSentences).toEqual(["drain reported"]);
  expect(await server.readMetric('lastcall_drains_total{outcome="timeout"}')).toMatch(/ 1$/);
  expect(await server.readMetric('lastcall_drain_phase_seconds_sum{phase="withdrawing"}')).toMatch(/ 5.01$/);
  expect(await server.readMetric('lastcall_drain_connections_left_bucket{le="25"}')).toMatch(/ 0$/);
  expect(await server.readMetric('lastcall_drain_connections_left_bucket{le="50"}')).toMatch(/ 1$/);
});

test("the second report of a Pod adds the connection resets to the stored drain, and the drain is not counted again", async () => {
  const server = createDrainsServer();
  const resets = { draining: 3, stopping: 2, probes: 0, stoppingMs: 90_000 };
  await post(server, reportBody());
  const [first] = server.ring.list();
  server.clock.wallMs += 90_000;
  await post(server, reportBody({ resets }));
  expect(server.ring.list()).toEqual([{ ...first, report: { ...first?.report, resets } }]);
  expect(server.loggedSentences).toEqual(["drain reported", "a manager reported the connections that its Pod reset"]);
  expect(await server.readMetric('lastcall_drains_total{outcome="drained"}')).toMatch(/ 1$/);
  expect(await server.readMetric('lastcall_drain_resets_total{period="draining"}')).toMatch(/ 3$/);
  expect(await server.readMetric('lastcall_drain_resets_total{period="stopping"}')).toMatch(/ 2$/);
});

test("the second report of a Pod is stored with the end time of its drain if another replica has the first report", async () => {
  const server = createDrainsServer();
  const milliseconds = { withdrawing: 5_000, deregistration: 0, draining: 2_000, holding: 1_000 };
  await post(server, reportBody({ milliseconds, resets: { draining: 0, stopping: 0, probes: 0, stoppingMs: 90_000 } }));
  expect(server.ring.list()).toMatchObject([{ endedAtMs: server.clock.wallMs - 89_000 }]);
  expect(await server.readMetric('lastcall_drains_total{outcome="drained"}')).toMatch(/ 0$/);
});

test("a workload counts as graceful after three Pods that did not reset a connection, and this change is logged", async () => {
  const server = createDrainsServer();
  const endPod = (uid: string, stopping: number) => {
    const resets = { draining: 0, stopping, probes: 0, stoppingMs: 900 };
    return post(server, reportBody({ outcome: "handed-over", leftTotal: 3, resets }, uid));
  };
  for (const uid of ["pod-1", "pod-2", "pod-3"]) {
    expect(server.workloads.isGraceful(CLAIMS)).toBe(false);
    await endPod(uid, 0);
  }
  expect(server.workloads.isGraceful(CLAIMS)).toBe(true);
  await endPod("pod-4", 1);
  expect(server.workloads.isGraceful(CLAIMS)).toBe(false);
  expect(server.loggedSentences.filter((sentence) => sentence === "recorded how the workload shuts down")).toHaveLength(
    2,
  );
});

test("only a valid report ends the search for a lost drain of its Pod", async () => {
  const reportedUids: string[] = [];
  const server = createDrainsServer({ onReport: ({ uid }) => reportedUids.push(uid) });
  await post(server, "nonsense");
  await post(server, reportBody({}, "pod-2").replace('"shop"', '"other"'));
  expect(reportedUids).toEqual([]);
  await post(server, reportBody({}, "pod-2"));
  expect(reportedUids).toEqual(["pod-2"]);
});

test("a drain with the outcome `lost` is counted, and is not in the histogram of durations", async () => {
  const registry = new Registry();
  drainMetrics(registry).countDrain(someDrain({ report: { ...someReport(), outcome: "lost" } }));
  const text = await registry.metrics();
  expect(text).toContain('lastcall_drains_total{outcome="lost"} 1');
  expect(text).toContain('lastcall_incomplete_drains_total{outcome="lost",pod_namespace="shop"} 1');
  expect(text).toContain('lastcall_drain_phase_seconds_count{phase="withdrawing"} 0');
  expect(text).toContain("lastcall_drain_connections_left_count 0");
});

test("every outcome, phase and refusal reason has a metric before the first report", async () => {
  const { registry } = createDrainsServer();
  const text = await registry.metrics();
  for (const outcome of ["drained", "handed-over", "blind", "timeout", "not-needed", "restarted", "forced", "lost"]) {
    expect(text).toContain(`lastcall_drains_total{outcome="${outcome}"} 0`);
  }
  for (const reason of ["credential", "namespace", "rate_limited", "too_large", "malformed"]) {
    expect(text).toContain(`lastcall_drain_reports_refused_total{reason="${reason}"} 0`);
  }
  expect(text).toContain('lastcall_drain_phase_seconds_count{phase="deregistration"} 0');
});

test("a drain is counted per namespace only if its outcome is blind, forced or lost", async () => {
  const server = createDrainsServer();
  await post(server, reportBody({ outcome: "forced" }, "a"));
  await post(server, reportBody({ outcome: "blind" }, "b"));
  await post(server, reportBody({ outcome: "timeout" }, "c"));
  const text = await server.registry.metrics();
  expect(text.match(/^lastcall_incomplete_drains_total.*$/gm)).toEqual([
    'lastcall_incomplete_drains_total{outcome="forced",pod_namespace="shop"} 1',
    'lastcall_incomplete_drains_total{outcome="blind",pod_namespace="shop"} 1',
  ]);
});

test("the number of namespaces in the metrics of drains is limited", async () => {
  const registry = new Registry();
  const { countDrain } = drainMetrics(registry);
  const report = someReport({ outcome: "forced" });
  for (let index = 0; index < NAMESPACES_LIMIT + 5; index += 1)
    countDrain(someDrain({ namespace: `team-${index}`, report }));
  countDrain(someDrain({ namespace: "team-0", report }));
  const lines = (await registry.metrics()).match(/^lastcall_incomplete_drains_total.*$/gm) ?? [];
  expect(lines).toHaveLength(NAMESPACES_LIMIT + 1);
  expect(lines[0]).toBe('lastcall_incomplete_drains_total{outcome="forced",pod_namespace="team-0"} 2');
  expect(lines.at(-1)).toBe('lastcall_incomplete_drains_total{outcome="forced",pod_namespace="_other"} 5');
});

test("a drain with the outcome restarted is counted, and is not in the histogram of durations", async () => {
  const server = createDrainsServer();
  const noDurations = { withdrawing: 0, deregistration: 0, draining: 0, holding: 0 };
  await post(server, reportBody({ outcome: "restarted", trigger: "none", milliseconds: noDurations }));
  expect(await server.readMetric('lastcall_drains_total{outcome="restarted"}')).toMatch(/ 1$/);
  expect(await server.readMetric('lastcall_drain_phase_seconds_count{phase="draining"}')).toMatch(/ 0$/);
  expect(await server.readMetric("lastcall_drain_connections_left_count")).toMatch(/ 0$/);
  expect(server.ring.list()).toHaveLength(1);
});

test("a repeated report is counted once and recorded as one Event", async () => {
  const server = createDrainsServer();
  for (let times = 0; times < 3; times += 1) expect((await post(server, reportBody())).statusCode).toBe(200);
  expect(server.ring.list()).toHaveLength(1);
  expect(server.recordedEvents).toHaveLength(1);
  expect(await server.readMetric('lastcall_drains_total{outcome="drained"}')).toMatch(/ 1$/);
  server.clock.wallMs += 61_000;
  await post(server, reportBody());
  expect(server.ring.list()).toHaveLength(2);
});

test.for([
  { title: "without a header", authorization: undefined },
  { title: "with an empty header", authorization: "" },
  { title: "with another scheme", authorization: "Bearer good" },
  { title: "with a forged credential", authorization: "Lastcall bad" },
])("a report $title gets status 401, and its body is not read", async ({ authorization }) => {
  const server = createDrainsServer();
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const response = await server.app.inject({ method: "POST", url: "/v1/drains", headers, body: "x".repeat(100_000) });
  expect(response.statusCode).toBe(401);
  expect(response.headers["connection"]).toBe("close");
  expect(server.ring.list()).toEqual([]);
  expect(await server.readMetric('lastcall_drain_reports_refused_total{reason="credential"}')).toMatch(/ 1$/);
});

test("a report whose namespace is not the credential's gets status 403", async () => {
  const server = createDrainsServer();
  const body = JSON.stringify({ ...JSON.parse(reportBody()), namespace: "bank" });
  const response = await post(server, body);
  expect([response.statusCode, response.body]).toEqual([
    403,
    "The credential is for namespace shop and not for bank.\n",
  ]);
  expect(server.ring.list()).toEqual([]);
  expect(server.recordedEvents).toEqual([]);
  expect(await server.readMetric('lastcall_drain_reports_refused_total{reason="namespace"}')).toMatch(/ 1$/);
});

describe("a malformed report gets status 400 and a message:", () => {
  test.for([
    { title: "an empty body", body: "", sentence: "The body is not JSON.\n" },
    { title: "a truncated body", body: reportBody().slice(0, 99), sentence: "The body is not JSON.\n" },
    { title: "brackets up to the size limit", body: "[".repeat(16_384), sentence: "The body is not JSON.\n" },
    { title: "an empty object", body: "{}", sentence: "namespace is missing, expected the name of a namespace.\n" },
    {
      title: "a number beyond its limit",
      body: reportBody().replace('"draining":2240', '"draining":1e308'),
      sentence: "report.milliseconds.draining is 1e+308, expected a number from 0 to 100000000000.\n",
    },
    {
      title: "NaN instead of a number",
      body: reportBody().replace('"draining":2240', '"draining":NaN'),
      sentence: "The body is not JSON.\n",
    },
    {
      title: "markup as a Pod name",
      body: reportBody().replace('"web-1"', '"<script>alert(1)</script>"'),
      sentence: 'pod is "<script>alert(1)</script>", expected the name of a Pod.\n',
    },
    {
      title: "more connections than a report may list",
      body: reportBody().replace('"left":[]', `"left":[${Array.from({ length: 8_000 }, () => 0).join()}]`),
      sentence: "report.left has 8000 entries, expected at most 20.\n",
    },
  ])("$title", async ({ body, sentence }) => {
    const server = createDrainsServer();
    const response = await post(server, body);
    expect([response.statusCode, response.body]).toEqual([400, sentence]);
    expect(response.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(server.ring.list()).toEqual([]);
    expect(await server.readMetric('lastcall_drain_reports_refused_total{reason="malformed"}')).toMatch(/ 1$/);
  });
});

test("a report of 16 KiB is read, and one byte more gets status 413", async () => {
  const server = createDrainsServer();
  const fullBody = reportBody();
  expect((await post(server, fullBody.padEnd(16 * 1024))).statusCode).toBe(200);
  const response = await post(server, reportBody({}, "pod-2").padEnd(16 * 1024 + 1));
  expect([response.statusCode, response.body]).toEqual([413, "The report is larger than 16384 bytes.\n"]);
  expect(server.ring.list()).toHaveLength(1);
  expect(await server.readMetric('lastcall_drain_reports_refused_total{reason="too_large"}')).toMatch(/ 1$/);
});

test("a report of a namespace above its rate limit gets status 429, and its body is not read", async () => {
  const requested: string[] = [];
  const takeRequest = (namespace: string): boolean => {
    requested.push(namespace);
    return requested.length < 2;
  };
  const server = createDrainsServer({ limits: { takeRequestToken: takeRequest } });
  expect((await post(server, "nonsense")).statusCode).toBe(400);
  expect((await post(server, reportBody())).statusCode).toBe(429);
  expect(requested).toEqual([CLAIMS.namespace, CLAIMS.namespace]);
  expect(await server.readMetric('lastcall_drain_reports_refused_total{reason="rate_limited"}')).toMatch(/ 1$/);
});

test("a report is read as JSON with every content type, and other routes keep their parser", async () => {
  const server = createDrainsServer();
  for (const type of ["application/json", "text/plain", "a/b; charset=utf-16"]) {
    expect((await post(server, reportBody({}, type.slice(0, 1)), { "content-type": type })).statusCode).toBe(200);
  }
  expect((await post(server, reportBody(), { "content-type": "nonsense" })).statusCode).toBe(415);
  const headers = { "content-type": "application/json" };
  const response = await server.app.inject({ method: "POST", url: "/mutate", headers, body: "{}" });
  expect(response.json()).toEqual({ kind: "admission" });
});

test("a fault while a report is stored is logged, and the response is 500 without details", async () => {
  const recordEvent = (): void => {
    throw new Error("secret details");
  };
  const server = createDrainsServer({ recordEvent });
  const response = await post(server, reportBody());
  expect([response.statusCode, response.body]).toEqual([500, "Internal error; see the log of the relay.\n"]);
  expect(server.loggedSentences).toEqual(["drain reported", "a request to the relay failed"]);
});

test("control characters in the owner of a report's credential are removed", async () => {
  const checkCredential = () => ({ ...CLAIMS, ownerKind: "Re\u001b[2Jplica", ownerName: "a\u202eb" });
  const server = createDrainsServer({ checkCredential });
  await post(server, reportBody());
  expect(server.ring.list()[0]).toMatchObject({ ownerKind: "Re?[2Jplica", ownerName: "a?b" });
  expect(server.recordedEvents).toEqual([]);
});

/** Sends raw bytes to a server; resolves with the received text when the connection ends. */
async function exchangeBytes(port: number, bytes: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    let response = "";
    const socket = connect({ host: "127.0.0.1", port, servername: "relay", rejectUnauthorized: false }, () => {
      for (const part of bytes) socket.write(part);
    });
    socket.on("data", (chunk: Buffer) => {
      response += chunk.toString("latin1");
    });
    // The server may close the connection before it has read all bytes.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(response));
  });
}

describe("on the drains route over a TCP connection", () => {
  const requestHead = `POST /v1/drains HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\n`;
  const authorizedHead = `${requestHead}Authorization: ${AUTHORIZATION}\r\n`;

  async function startServer() {
    const pair = await generate([{ name: "commonName", value: "relay" }], { keyType: "ec", curve: "P-256" });
    const server = createDrainsServer({}, createSecureContext({ cert: pair.cert, key: pair.private }));
    await server.app.listen({ host: "127.0.0.1", port: 0 });
    const address = server.app.server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return { server, port };
  }

  test("a report with an endless chunked body is rejected at the size limit", async () => {
    const { server, port } = await startServer();
    const chunk = `2000\r\n${"x".repeat(8_192)}\r\n`;
    const response = await exchangeBytes(port, [
      `${authorizedHead}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array<string>(50).fill(chunk),
    ]);
    expect(response).toMatch(/^HTTP\/1.1 413 /);
    await server.app.close();
  });

  test("a report with too large a Content-Length is rejected before the first byte of its body", async () => {
    const { server, port } = await startServer();
    expect(await exchangeBytes(port, [`${authorizedHead}Content-Length: 1000000000\r\n\r\n`])).toMatch(
      /^HTTP\/1.1 413 /,
    );
    await server.app.close();
  });

  test("a report without a credential gets its response before the body, and the connection ends", async () => {
    const { server, port } = await startServer();
    expect(await exchangeBytes(port, [`${requestHead}Content-Length: 1000\r\n\r\n`])).toMatch(/^HTTP\/1.1 401 /);
    await server.app.close();
  });

  test("a report whose client disconnects during the body is ignored", async () => {
    const { server, port } = await startServer();
    const socket = connect({ host: "127.0.0.1", port, servername: "relay", rejectUnauthorized: false }, () => {
      socket.write(`${authorizedHead}Content-Length: 1000\r\n\r\n{"namespace"`, () => socket.destroy());
    });
    await new Promise((resolve) => socket.on("close", resolve));
    const fullBody = reportBody();
    const response = await exchangeBytes(port, [
      `${authorizedHead}Connection: close\r\nContent-Length: ${fullBody.length}\r\n\r\n${fullBody}`,
    ]);
    expect(response).toMatch(/^HTTP\/1.1 200 /);
    expect(server.ring.list()).toHaveLength(1);
    expect(server.loggedSentences).toEqual(["drain reported"]);
    await server.app.close();
  });
});
