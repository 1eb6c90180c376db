import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { createEnvoyEvidence } from "../../src/manager/drivers/envoy/envoy-count.ts";
import { listenerOf } from "../../src/manager/drivers/envoy/envoy-prefixes.ts";
import { createEnvoyStats, type EnvoyCount } from "../../src/manager/drivers/envoy/envoy-stats.ts";
import { adminLines, listenerLines } from "./fake-envoy.ts";

const ENVOY: DrainSettings = { ...DEFAULT_SETTINGS, driver: "envoy" };
const ISTIO: DrainSettings = { ...DEFAULT_SETTINGS, driver: "istio" };

function readCount(lines: readonly string[], settings = ENVOY, admin = adminLines(3)): EnvoyCount {
  const stats = createEnvoyStats(settings);
  stats.addChunk(Buffer.from([...admin, ...lines].map((line) => `${line}\n`).join("")));
  return stats.count();
}

describe("a listener of Envoy", () => {
  test.for([
    { title: "an IPv4 wildcard address", name: "0.0.0.0_8080", kind: "counted" },
    { title: "an IPv6 wildcard address", name: "[__]_8080", kind: "counted" },
    { title: "an address of the Pod", name: "10.1.2.3_443", kind: "counted" },
    { title: "a user-defined name", name: "edge", kind: "counted" },
    { title: "a name that contains admin", name: "admin_api_9000", kind: "counted" },
    { title: "a name that contains worker", name: "myworker_8080", kind: "counted" },
    { title: "the loopback address", name: "127.0.0.1_8080", kind: "ignored" },
    { title: "the IPv6 loopback address", name: "[__1]_8080", kind: "ignored" },
    { title: "the name of an internal listener", name: "envoy_internal_mesh", kind: "ignored" },
    { title: "the path of a Unix socket", name: "/run/envoy.sock", kind: "ignored" },
    { title: "an address with the gateway's readiness port", name: "0.0.0.0_19003", kind: "ignored" },
    { title: "an address with the manager's port", name: "0.0.0.0_17890", kind: "ignored" },
    { title: "an address with a mesh port", name: "0.0.0.0_15021", kind: "ignored" },
    { title: "the name of the admin interface", name: "admin", kind: "admin" },
  ])("with $title is classified as `$kind`", ({ name, kind }) => {
    expect(listenerOf(name, ENVOY).kind).toBe(kind);
  });

  test("of a sidecar is counted only if its port is the sidecar's inbound port", () => {
    const names = ["0.0.0.0_15006", "[__]_15006", "0.0.0.0_15001", "0.0.0.0_8080", "edge"];
    expect(names.map((name) => listenerOf(name, ISTIO).kind)).toEqual([
      "counted",
      "counted",
      "ignored",
      "ignored",
      "ignored",
    ]);
  });

  test("is counted or ignored according to `drain-ports` and `ignore-ports`", () => {
    const onePortSettings: DrainSettings = { ...ENVOY, drainPorts: [19_003] };
    expect(listenerOf("0.0.0.0_19003", onePortSettings).kind).toBe("counted");
    expect(listenerOf("0.0.0.0_8080", onePortSettings).kind).toBe("ignored");
    expect(listenerOf("0.0.0.0_8080", { ...ENVOY, ignorePorts: [8_080] }).kind).toBe("ignored");
  });

  test("in a shared network namespace is counted only if it has the Pod's address", () => {
    const scopedSettings: DrainSettings = { ...ENVOY, addressScope: "127.9.9.9" };
    expect(listenerOf("127.9.9.9_8080", scopedSettings).kind).toBe("counted");
    expect(listenerOf("127.9.9.8_8080", scopedSettings).kind).toBe("ignored");
  });
});

describe("the statistics of Envoy", () => {
  test("are sums over all listeners except the admin interface, without the statistics of single threads", () => {
    const lines = [
      ...listenerLines("0.0.0.0_80", {
        connections: 5,
        connectionTotal: 9,
        http: { prefix: "a", requests: 2, completedRequests: 30 },
      }),
      ...listenerLines("0.0.0.0_81", { connections: 3, connectionTotal: 4 }),
      "udp.dns.downstream_sess_active: 7",
      "udp.dns.downstream_sess_total: 8",
    ];
    expect(readCount(lines)).toMatchObject({
      problem: "",
      active: 2 + 3 + 7,
      connectionTotal: 21,
      completedTotal: 30,
      adminTotal: 3,
      epoch: 0,
    });
  });

  test("count datagrams in both directions instead of UDP sessions, which stay open without datagrams", () => {
    const lines = [
      ...listenerLines("0.0.0.0_80"),
      "udp.dns.downstream_sess_active: 7",
      "udp.dns.downstream_sess_rx_datagrams: 20",
      "udp.dns.downstream_sess_tx_datagrams: 19",
    ];
    expect(readCount(lines)).toMatchObject({ active: 0, datagramTotal: 39 });
    expect(readCount(listenerLines("0.0.0.0_80"))).toMatchObject({ active: 0, datagramTotal: -1 });
  });

  test("distinguish TCP sessions from HTTP connections of the same listener", () => {
    const lines = listenerLines("0.0.0.0_80", { connections: 5, http: { prefix: "a", connections: 3 } });
    expect(readCount(lines).active).toBe(2);
  });

  test("contain an upgraded connection once", () => {
    const lines = listenerLines("0.0.0.0_80", { connections: 1, http: { prefix: "a", requests: 1, upgrades: 1 } });
    expect(readCount(lines).active).toBe(1);
  });

  test("exclude requests of ignored listeners", () => {
    const lines = [
      ...listenerLines("0.0.0.0_80", { http: { prefix: "a" } }),
      ...listenerLines("127.0.0.1_81", {
        connections: 4,
        connectionTotal: 4,
        http: { prefix: "b", requests: 4, completedRequests: 4 },
      }),
    ];
    expect(readCount(lines)).toMatchObject({ active: 0, connectionTotal: 0, completedTotal: 0 });
  });

  test("include a TCP session on a listener that shares its HTTP stat prefix with an ignored listener", () => {
    const lines = [
      "http.a.downstream_rq_active: 0",
      "http.a.downstream_cx_active: 4",
      ...listenerLines("0.0.0.0_80", { connections: 1 }),
      "listener.0.0.0.0_80.http.a.downstream_rq_completed: 0",
      ...listenerLines("127.0.0.1_81", { connections: 4 }),
      "listener.127.0.0.1_81.http.a.downstream_rq_completed: 0",
    ];
    expect(readCount(lines).active).toBe(1);
  });

  test("include requests of an HTTP stat prefix that no listener reports", () => {
    expect(readCount([...listenerLines("0.0.0.0_80"), "http.x.downstream_rq_active: 2"]).active).toBe(2);
  });

  test("list the ports of listeners that the kubelet probes", () => {
    const probedSettings = { ...ENVOY, kubeletProbes: [80, 81].map((port) => ({ port, periodMs: 10_000 })) };
    expect(readCount(listenerLines("0.0.0.0_80"), probedSettings).probedPorts).toEqual([80]);
  });

  const adminLinesWithout = (word: string) => adminLines(3).filter((line) => !line.includes(word));

  test.for([
    { title: "if they are empty", lines: [], admin: [] },
    { title: "without a listener except admin", lines: [], admin: adminLines(3) },
    {
      title: "without connections",
      lines: listenerLines("0.0.0.0_80"),
      admin: adminLinesWithout("listener.admin.downstream_cx_active"),
    },
    {
      title: "without a total of connections",
      lines: listenerLines("0.0.0.0_80"),
      admin: adminLinesWithout("listener.admin.downstream_cx_total"),
    },
    {
      title: "without active requests of the admin interface",
      lines: listenerLines("0.0.0.0_80"),
      admin: adminLinesWithout("rq_active"),
    },
    {
      title: "without completed requests of the admin interface",
      lines: listenerLines("0.0.0.0_80"),
      admin: adminLinesWithout("rq_completed"),
    },
    {
      title: "with an incomplete listener",
      lines: listenerLines("0.0.0.0_80").filter((line) => !line.startsWith("listener.0.0.0.0_80.downstream_cx_total")),
      admin: adminLines(3),
    },
    { title: "with an unterminated line", lines: ["x".repeat(5_000)], admin: adminLines(3) },
  ])("are reported as unusable $title", ({ lines, admin }) => {
    expect(readCount(lines, ENVOY, admin).problem).not.toBe("");
  });

  test("are the same for any division of the response into chunks", () => {
    const text = [
      ...adminLines(3),
      ...listenerLines("0.0.0.0_80", {
        connections: 5,
        connectionTotal: 9,
        http: { prefix: "ä", requests: 2, completedRequests: 30 },
      }),
    ].join("\n");
    const bytes = Buffer.from(`${text}\n`);
    const expected = readCount(text.split("\n").slice(adminLines(3).length));
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const stats = createEnvoyStats(ENVOY);
        const chunkEnds = [...cuts, bytes.length].sort((a, b) => a - b);
        let from = 0;
        for (const end of chunkEnds) {
          stats.addChunk(bytes.subarray(from, end));
          from = end;
        }
        expect(stats.count()).toEqual(expected);
      }),
    );
  });

  test("do not contain a negative number for arbitrary responses, and do not cause an exception", () => {
    const anyFragment = fc.constantFrom(
      "listener.",
      "http.",
      "udp.",
      "admin",
      "0.0.0.0_80",
      ".downstream_cx_active",
      ".http.",
      ": ",
      "1",
      "-1",
      "\n",
    );
    const text = fc.array(fc.oneof(anyFragment, fc.string({ maxLength: 5 }))).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (body) => {
        const stats = createEnvoyStats(ENVOY);
        stats.addChunk(Buffer.from(body));
        expect(stats.count().active).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("two successive samples of Envoy's statistics", () => {
  const count = (overrides: Partial<EnvoyCount>): EnvoyCount => ({
    isEnvoy: true,
    problem: "",
    isTemporary: false,
    active: 0,
    connectionTotal: 0,
    completedTotal: 0,
    datagramTotal: -1,
    adminTotal: 1,
    epoch: 0,
    probedPorts: [],
    ...overrides,
  });
  const evidenceOf = (probes: DrainSettings["kubeletProbes"], ...counts: readonly Partial<EnvoyCount>[]) => {
    const evidence = createEnvoyEvidence(probes);
    return counts.map((overrides, n) => evidence.addCount(count({ adminTotal: n + 1, ...overrides }), n * 200)).at(-1);
  };

  test.for([
    { title: "do not show traffic if all totals are unchanged", next: {}, hadTraffic: false },
    { title: "show traffic after a new connection", next: { connectionTotal: 1 }, hadTraffic: true },
    { title: "show traffic after a response", next: { completedTotal: 1 }, hadTraffic: true },
  ])("$title", ({ next, hadTraffic }) => {
    expect(evidenceOf([], {}, next)).toEqual({ restarted: false, hadTraffic });
  });

  test("show traffic when a total decreases", () => {
    expect(evidenceOf([], { connectionTotal: 9 }, { connectionTotal: 3 })).toEqual({
      restarted: false,
      hadTraffic: true,
    });
  });

  test("show a restart of Envoy if its restart epoch changes or its total of admin requests does not increase", () => {
    expect(evidenceOf([], { adminTotal: 9 }, { adminTotal: 1 })).toMatchObject({ restarted: true });
    expect(evidenceOf([], { adminTotal: 1 }, { adminTotal: 1 })).toMatchObject({ restarted: true });
    expect(evidenceOf([], { adminTotal: 1 }, { adminTotal: 9, epoch: 1 })).toMatchObject({
      restarted: true,
      hadTraffic: true,
    });
    expect(evidenceOf([], { epoch: 1 }, { epoch: 1 })).toMatchObject({ restarted: false });
  });

  test("show traffic for clients and not for the kubelet's probes", () => {
    const probes = [{ port: 80, periodMs: 1_000 }];
    const probedListener = { probedPorts: [80] };
    const oneConnection = { ...probedListener, connectionTotal: 1, completedTotal: 1 };
    expect(evidenceOf(probes, probedListener, oneConnection)).toMatchObject({ hadTraffic: false });
    expect(evidenceOf(probes, probedListener, { ...oneConnection, completedTotal: 50 })).toMatchObject({
      hadTraffic: true,
    });
    expect(evidenceOf(probes, {}, { connectionTotal: 1, completedTotal: 1 })).toMatchObject({ hadTraffic: true });
  });
});
