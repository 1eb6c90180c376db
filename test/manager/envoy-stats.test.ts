import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { createEnvoyEvidence } from "../../src/manager/drivers/envoy/envoy-count.ts";
import { listenerOf } from "../../src/manager/drivers/envoy/envoy-prefixes.ts";
import { createEnvoyStats, type EnvoyCount } from "../../src/manager/drivers/envoy/envoy-stats.ts";
import { adminLines, listenerLines } from "./fake-envoy.ts";

const ENVOY: DrainSettings = { ...DEFAULT_SETTINGS, driver: "envoy" };
const ISTIO: DrainSettings = { ...DEFAULT_SETTINGS, driver: "istio" };

function read(lines: readonly string[], settings = ENVOY, admin = adminLines(3)): EnvoyCount {
  const stats = createEnvoyStats(settings);
  stats.take(Buffer.from([...admin, ...lines].map((line) => `${line}\n`).join("")));
  return stats.count();
}

describe("a listener of Envoy", () => {
  test.for([
    { says: "an address", name: "0.0.0.0_8080", kind: "counted" },
    { says: "an IPv6 address", name: "[__]_8080", kind: "counted" },
    { says: "an address of the Pod", name: "10.1.2.3_443", kind: "counted" },
    { says: "a name someone gave it", name: "edge", kind: "counted" },
    { says: "a name that has admin in it", name: "admin_api_9000", kind: "counted" },
    { says: "a name that has worker in it", name: "myworker_8080", kind: "counted" },
    { says: "loopback", name: "127.0.0.1_8080", kind: "ignored" },
    { says: "IPv6 loopback", name: "[__1]_8080", kind: "ignored" },
    { says: "an internal one", name: "envoy_internal_mesh", kind: "ignored" },
    { says: "a path", name: "/run/envoy.sock", kind: "ignored" },
    { says: "the gateway's own readiness", name: "0.0.0.0_19003", kind: "ignored" },
    { says: "the manager's port", name: "0.0.0.0_17890", kind: "ignored" },
    { says: "a mesh port", name: "0.0.0.0_15021", kind: "ignored" },
    { says: "the admin interface", name: "admin", kind: "admin" },
  ])("named for $says is $kind", ({ name, kind }) => {
    expect(listenerOf(name, ENVOY).kind).toBe(kind);
  });

  test("of a sidecar counts where everything comes in, and nowhere else", () => {
    const names = ["0.0.0.0_15006", "[__]_15006", "0.0.0.0_15001", "0.0.0.0_8080", "edge"];
    expect(names.map((name) => listenerOf(name, ISTIO).kind)).toEqual([
      "counted",
      "counted",
      "ignored",
      "ignored",
      "ignored",
    ]);
  });

  test("obeys drain-ports and ignore-ports", () => {
    const only: DrainSettings = { ...ENVOY, drainPorts: [19_003] };
    expect(listenerOf("0.0.0.0_19003", only).kind).toBe("counted");
    expect(listenerOf("0.0.0.0_8080", only).kind).toBe("ignored");
    expect(listenerOf("0.0.0.0_8080", { ...ENVOY, ignorePorts: [8_080] }).kind).toBe("ignored");
  });

  test("in a shared network namespace is the Pod's own by its address", () => {
    const scoped: DrainSettings = { ...ENVOY, addressScope: "127.9.9.9" };
    expect(listenerOf("127.9.9.9_8080", scoped).kind).toBe("counted");
    expect(listenerOf("127.9.9.8_8080", scoped).kind).toBe("ignored");
  });
});

describe("the statistics of Envoy", () => {
  test("are summed over listeners, without the threads' repetitions and its own interface", () => {
    const lines = [
      ...listenerLines("0.0.0.0_80", { connections: 5, arrived: 9, http: { prefix: "a", requests: 2, answered: 30 } }),
      ...listenerLines("0.0.0.0_81", { connections: 3, arrived: 4 }),
      "udp.dns.downstream_sess_active: 7",
      "udp.dns.downstream_sess_total: 8",
    ];
    expect(read(lines)).toMatchObject({
      problem: "",
      active: 2 + 3 + 7,
      arrivedTotal: 21,
      answeredTotal: 30,
      adminTotal: 3,
      epoch: 0,
    });
  });

  test("tell TCP sessions from HTTP connections of the same listener", () => {
    const lines = listenerLines("0.0.0.0_80", { connections: 5, http: { prefix: "a", connections: 3 } });
    expect(read(lines).active).toBe(2);
  });

  test("count an upgraded connection once", () => {
    const lines = listenerLines("0.0.0.0_80", { connections: 1, http: { prefix: "a", requests: 1, upgrades: 1 } });
    expect(read(lines).active).toBe(1);
  });

  test("leave out requests of listeners that do not count", () => {
    const lines = [
      ...listenerLines("0.0.0.0_80", { http: { prefix: "a" } }),
      ...listenerLines("127.0.0.1_81", { connections: 4, arrived: 4, http: { prefix: "b", requests: 4, answered: 4 } }),
    ];
    expect(read(lines)).toMatchObject({ active: 0, arrivedTotal: 0, answeredTotal: 0 });
  });

  test("do not hide a TCP session behind a prefix that is also on a listener that does not count", () => {
    const lines = [
      "http.a.downstream_rq_active: 0",
      "http.a.downstream_cx_active: 4",
      ...listenerLines("0.0.0.0_80", { connections: 1 }),
      "listener.0.0.0.0_80.http.a.downstream_rq_completed: 0",
      ...listenerLines("127.0.0.1_81", { connections: 4 }),
      "listener.127.0.0.1_81.http.a.downstream_rq_completed: 0",
    ];
    expect(read(lines).active).toBe(1);
  });

  test("count a prefix that stands on no listener", () => {
    expect(read([...listenerLines("0.0.0.0_80"), "http.x.downstream_rq_active: 2"]).active).toBe(2);
  });

  test("name the kubelet's ports among their listeners", () => {
    const probed = { ...ENVOY, kubeletProbes: [80, 81].map((port) => ({ port, periodMs: 10_000 })) };
    expect(read(listenerLines("0.0.0.0_80"), probed).probedPorts).toEqual([80]);
  });

  const without = (word: string) => adminLines(3).filter((line) => !line.includes(word));

  test.for([
    { says: "nothing", lines: [], admin: [] },
    { says: "no listener but its own", lines: [], admin: adminLines(3) },
    {
      says: "no connections",
      lines: listenerLines("0.0.0.0_80"),
      admin: without("listener.admin.downstream_cx_active"),
    },
    { says: "no totals", lines: listenerLines("0.0.0.0_80"), admin: without("listener.admin.downstream_cx_total") },
    { says: "no requests", lines: listenerLines("0.0.0.0_80"), admin: without("rq_active") },
    { says: "no answers", lines: listenerLines("0.0.0.0_80"), admin: without("rq_completed") },
    {
      says: "not all of a listener",
      lines: listenerLines("0.0.0.0_80").filter((line) => !line.startsWith("listener.0.0.0.0_80.downstream_cx_total")),
      admin: adminLines(3),
    },
    { says: "a line without end", lines: ["x".repeat(5_000)], admin: adminLines(3) },
  ])("that show $says are no count", ({ lines, admin }) => {
    expect(read(lines, ENVOY, admin).problem).not.toBe("");
  });

  test("mean the same wherever the answer is cut into pieces", () => {
    const text = [
      ...adminLines(3),
      ...listenerLines("0.0.0.0_80", { connections: 5, arrived: 9, http: { prefix: "ä", requests: 2, answered: 30 } }),
    ].join("\n");
    const whole = Buffer.from(`${text}\n`);
    const expected = read(text.split("\n").slice(adminLines(3).length));
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 20 }), (cuts) => {
        const stats = createEnvoyStats(ENVOY);
        const ends = [...cuts, whole.length].sort((a, b) => a - b);
        let from = 0;
        for (const end of ends) {
          stats.take(whole.subarray(from, end));
          from = end;
        }
        expect(stats.count()).toEqual(expected);
      }),
    );
  });

  test("never throw and never count below zero, whatever a server answers", () => {
    const words = fc.constantFrom(
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
    const text = fc.array(fc.oneof(words, fc.string({ maxLength: 5 }))).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (body) => {
        const stats = createEnvoyStats(ENVOY);
        stats.take(Buffer.from(body));
        expect(stats.count().active).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("two counts together", () => {
  const count = (over: Partial<EnvoyCount>): EnvoyCount => ({
    isEnvoy: true,
    problem: "",
    passing: false,
    active: 0,
    arrivedTotal: 0,
    answeredTotal: 0,
    adminTotal: 1,
    epoch: 0,
    probedPorts: [],
    ...over,
  });
  const judge = (probes: DrainSettings["kubeletProbes"], ...counts: readonly Partial<EnvoyCount>[]) => {
    const evidence = createEnvoyEvidence(probes);
    return counts.map((over, n) => evidence.take(count({ adminTotal: n + 1, ...over }), n * 200)).at(-1);
  };

  test.for([
    { says: "nothing where nothing changed", next: {}, moved: false },
    { says: "traffic where a connection came", next: { arrivedTotal: 1 }, moved: true },
    { says: "traffic where a request was answered", next: { answeredTotal: 1 }, moved: true },
  ])("tell $says", ({ next, moved }) => {
    expect(judge([], {}, next)).toEqual({ restarted: false, moved });
  });

  test("tell traffic where a listener went with its totals", () => {
    expect(judge([], { arrivedTotal: 9 }, { arrivedTotal: 3 })).toEqual({ restarted: false, moved: true });
  });

  test("tell another process by our own questions, which it has not heard", () => {
    expect(judge([], { adminTotal: 9 }, { adminTotal: 1 })).toMatchObject({ restarted: true });
    expect(judge([], { adminTotal: 1 }, { adminTotal: 1 })).toMatchObject({ restarted: true });
    expect(judge([], { adminTotal: 1 }, { adminTotal: 9, epoch: 1 })).toMatchObject({ restarted: true, moved: true });
    expect(judge([], { epoch: 1 }, { epoch: 1 })).toMatchObject({ restarted: false });
  });

  test("do not take the kubelet's probes for traffic, nor clients for probes", () => {
    const probes = [{ port: 80, periodMs: 1_000 }];
    const probed = { probedPorts: [80] };
    const one = { ...probed, arrivedTotal: 1, answeredTotal: 1 };
    expect(judge(probes, probed, one)).toMatchObject({ moved: false });
    expect(judge(probes, probed, { ...one, answeredTotal: 50 })).toMatchObject({ moved: true });
    expect(judge(probes, {}, { arrivedTotal: 1, answeredTotal: 1 })).toMatchObject({ moved: true });
  });
});
