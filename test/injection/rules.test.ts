/** Tests single functions of the injection with tables of inputs. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseDurationMs } from "../../src/contract/duration.ts";
import { fitDrainTimes, gracePeriodSeconds, representableMs } from "../../src/injection/hooks/grace.ts";
import { sleepSecondsOf } from "../../src/injection/hooks/own-hooks.ts";
import { driverOf } from "../../src/injection/mesh/driver.ts";
import { chooseMode } from "../../src/injection/plan/eligibility.ts";
import { kubeletProbesOf } from "../../src/injection/plan/settings.ts";
import { formatRecord, parseRecord } from "../../src/injection/record/original-record.ts";
import { resolvePolicy } from "../../src/policy/resolve.ts";
import { FACTS, inject, injectedPodOf, problemCodesOf, TOKEN } from "./injector-inputs.ts";

describe("the recognition of a hook that only sleeps", () => {
  test.for<[readonly string[], number]>([
    [["sleep", "15"], 15],
    [["/bin/sleep", "15s"], 15],
    [["/usr/bin/sleep", "2m"], 120],
    [["sh", "-c", "sleep 15"], 15],
    [["/bin/bash", "-c", "exec sleep 15;"], 15],
    [["/bin/sh", "-ec", "  /bin/sleep 0.2 "], 1],
    [["sh", "-c", "sleep 15; true"], 15],
  ])("includes the command %j, with a time of %i s", ([command, seconds]) => {
    expect(sleepSecondsOf({ exec: { command } })).toBe(seconds);
  });

  test.for<[readonly string[]]>([
    [["sh", "-c", "sleep 15 && nginx -s quit"]],
    [["sh", "-c", "sleep $DELAY"]],
    [["sh", "-c", "sleep 15", "extra"]],
    [["sleep", "15", "5"]],
    [["sleep", "-1"]],
    [["sleep", "infinity"]],
    [["python", "-c", "sleep 15"]],
    [["/app/sleep", "15"]],
    [[]],
  ])("excludes the command %j", ([command]) => {
    expect(sleepSecondsOf({ exec: { command } })).toBeUndefined();
  });

  test("excludes a hook with a second handler, and a duration that is not a number", () => {
    expect(sleepSecondsOf({ sleep: { seconds: 5 }, exec: { command: ["x"] } })).toBeUndefined();
    expect(sleepSecondsOf({ sleep: { seconds: "5" } })).toBeUndefined();
  });
});

describe("the mode of the manager", () => {
  test.for<[title: string, mode: string, apiServer: string, kubelet: string | undefined]>([
    ["an API server 1.36 without a known kubelet", "native", "1.36", undefined],
    ["an API server v1.32.0 and the oldest kubelet v1.28.0", "native", "v1.32.0", "v1.28.0"],
    ["an API server 1.31+ and the oldest kubelet v1.29.0-gke.1", "native", "1.31+", "v1.29.0-gke.1"],
    ["an API server v1.31.4-eks-abc and the oldest kubelet v1.28.15", "classic", "v1.31.4-eks-abc", "v1.28.15"],
    ["an API server 1.29 without a known kubelet", "classic", "1.29", undefined],
    ["an API server 1.29 and a kubelet without a version", "classic", "1.29", ""],
    ["an API server 1.28 and the oldest kubelet 1.28.0", "classic", "1.28", "1.28.0"],
    ["an API server 2.0 without a known kubelet", "native", "2.0", undefined],
    ["an API server without a version and the oldest kubelet 1.30", "classic", "", "1.30"],
    ["an API server with the invalid version latest and the oldest kubelet 1.30", "classic", "latest", "1.30"],
  ])("for %s is %s", ([, mode, apiServerVersion, lowestKubeletVersion]) => {
    const facts = { ...FACTS, apiServerVersion, lowestKubeletVersion };
    expect(chooseMode("auto", facts, undefined, "pod x")).toEqual({ mode, problems: [] });
    expect(chooseMode("sidecar", facts, undefined, "pod x").mode).toBe(mode);
    expect(chooseMode("classic", facts, undefined, "pod x").mode).toBe("classic");
  });

  test("is sleep only if all known nodes support sleep hooks", () => {
    const oldKubelets = { ...FACTS, apiServerVersion: "1.31", lowestKubeletVersion: "1.29.0" };
    expect(chooseMode("sleep", oldKubelets, undefined, "pod x")).toMatchObject({
      mode: "native",
      problems: [{ code: "unsupported_mode" }],
    });
    expect(chooseMode("sleep", { ...oldKubelets, lowestKubeletVersion: undefined }, undefined, "pod x").mode).toBe(
      "sleep",
    );
  });
});

describe("the injected grace period", () => {
  const anyTimeMs = fc.integer({ min: 0, max: 999_999 * 3_600_000 });
  const times = fc.record({ drainDelayMs: anyTimeMs, deregistrationDelayMs: anyTimeMs, drainTimeoutMs: anyTimeMs });
  const original = fc.integer({ min: 1, max: 2_147_483_647 });

  test("covers all configured durations, in flags that the manager can read", () => {
    fc.assert(
      fc.property(original, times, fc.integer({ min: 0, max: 100 }), (seconds, desired, chain) => {
        const fittedTimes = fitDrainTimes(seconds, desired, chain);
        const grace = gracePeriodSeconds(seconds, fittedTimes, chain);
        expect(grace).toBeLessThanOrEqual(2_147_483_647);
        expect(grace).toBeGreaterThanOrEqual(seconds);
        expect(grace * 1_000).toBeGreaterThan(fittedTimes.drainTimeoutMs);
        for (const ms of Object.values(fittedTimes)) expect(parseDurationMs(formatDuration(ms))).toBe(ms);
        expect(fittedTimes.drainTimeoutMs).toBeLessThanOrEqual(desired.drainTimeoutMs);
      }),
    );
  });

  test("is computed from durations that a flag can express, at most an hour shorter than configured", () => {
    expect([1_500, 60_000, 604_800_000, 999_999_000].map(representableMs)).toEqual([
      1_500, 60_000, 604_800_000, 999_999_000,
    ]);
    fc.assert(
      fc.property(anyTimeMs, (ms) => {
        expect(ms - representableMs(ms)).toBeGreaterThanOrEqual(0);
        expect(ms - representableMs(ms)).toBeLessThan(3_600_000);
      }),
    );
  });

  test("includes the time of every chained hook", () => {
    const containerWithHook = (preStop: object, name: string) => ({ name, image: "x", lifecycle: { preStop } });
    const pod = {
      metadata: { annotations: { "lastcall.dev/prestop": "chain" } },
      spec: {
        containers: [
          containerWithHook({ httpGet: { port: 80, path: "/a" } }, "a"),
          containerWithHook({ sleep: { seconds: 7 } }, "b"),
          containerWithHook({ httpGet: { port: 81 } }, "c"),
        ],
      },
    };
    expect(injectedPodOf(pod)).toMatchObject({ spec: { terminationGracePeriodSeconds: 100 + 5 + 7 + 5 } });
  });
});

describe("a hook over HTTPS", () => {
  test("is not replaced even if hooks are chained, because the manager only sends plain HTTP", () => {
    const preStop = { httpGet: { port: 443, path: "/bye", scheme: "HTTPS" } };
    const pod = {
      metadata: { annotations: { "lastcall.dev/prestop": "chain" } },
      spec: {
        containers: [
          { name: "a", image: "x", lifecycle: { preStop } },
          { name: "b", image: "x" },
        ],
      },
    };
    expect(injectedPodOf(pod)).toMatchObject({
      spec: { containers: [{ name: "a", lifecycle: { preStop } }, { name: "b" }] },
    });
  });
});

describe("the injection record", () => {
  test("does not contain a dollar sign, which the kubelet would expand", () => {
    const preStop = { app: { exec: { command: ["echo", "$(POD_NAME) $$"] } } };
    const record = { grace: 30, probes: [], pullSecrets: [], preStop, chain: {}, annotations: {}, empty: {} };
    const text = formatRecord(record);
    expect(text).not.toContain("$");
    expect(parseRecord(text)).toEqual(record);
  });

  test("never exceeds 4 KiB, however many changes there are", () => {
    const probe = { livenessProbe: { exec: { command: ["x"] } } };
    const containers = Array.from({ length: 90 }, (_, at) => ({
      name: `c${at}-${"x".repeat(55)}`,
      image: "x",
      ...probe,
    }));
    const pod = { metadata: { annotations: { "lastcall.dev/status": "y".repeat(5_000) } }, spec: { containers } };
    const outcome = inject(pod);
    expect(problemCodesOf(outcome)).toContain("original_too_large");
    const manager = (injectedPodOf(pod) as { spec: { initContainers: { env: { name: string; value?: string }[] }[] } })
      .spec.initContainers[0];
    const record = manager?.env.find((entry) => entry.name === "LASTCALL_ORIGINAL")?.value ?? "";
    expect(record.length).toBeLessThanOrEqual(4_096);
    expect(inject(injectedPodOf(pod))).toMatchObject({ reason: "up_to_date" });
  });

  test("does not stop an injection if it is forged or damaged", () => {
    for (const text of ["", "null", "[]", '{"grace":"x","probes":7,"preStop":[],"empty":{"a":5}}', '{"grace":-1}'])
      expect(() => parseRecord(text)).not.toThrow();
    const container = { name: "lastcall", image: "x", args: ["serve", "--port=17890"], restartPolicy: "Always" };
    const env = [{ name: "LASTCALL_ORIGINAL", value: "{" }];
    const pod = { spec: { initContainers: [{ ...container, env }], containers: [{ name: "app", image: "x" }] } };
    expect(inject(pod)).toMatchObject({ kind: "patched" });
  });
});

describe("kubelet probes", () => {
  const app = {
    name: "app",
    ports: [{ name: "http", containerPort: 8080 }],
    livenessProbe: { httpGet: { port: 8081 } },
    readinessProbe: { httpGet: { port: "http" }, periodSeconds: 3 },
    startupProbe: { tcpSocket: { port: 8080 } },
  };

  test("that continue during the Pod's termination are listed for the manager with numeric port and period", () => {
    const sidecar = {
      name: "proxy",
      restartPolicy: "Always",
      livenessProbe: { tcpSocket: { port: 15_000 }, periodSeconds: 5 },
      readinessProbe: { grpc: { port: 15_021 } },
      startupProbe: { tcpSocket: { port: 15_000 } },
    };
    expect(kubeletProbesOf({ spec: { initContainers: [sidecar], containers: [app] } })).toEqual([
      { port: 15_000, periodMs: 5_000 },
      { port: 15_021, periodMs: 10_000 },
      { port: 8080, periodMs: 3_000 },
    ]);
  });

  test.for([
    ["a command", { exec: { command: ["x"] } }],
    ["a port that the container does not have", { httpGet: { port: "no" } }],
    ["another host", { tcpSocket: { port: 8080, host: "10.0.0.1" } }],
  ])("of %s are not listed for the manager", ([, readinessProbe]) => {
    expect(kubeletProbesOf({ spec: { containers: [{ ...app, readinessProbe }] } })).toEqual([]);
  });
});

describe("the setting `driver: auto`", () => {
  const policy = resolvePolicy([], {}).policy;

  test.for<[string, string]>([
    ["envoyproxy/envoy:v1.31.0", "envoy"],
    ["registry.local:5000/mirror/envoy@sha256:00", "envoy"],
    ["docker.io/envoyproxy/envoy-distroless:v1", "envoy"],
    ["my/envoyage:1", "none"],
    ["nginx:envoy", "none"],
  ])("with the image %s means the driver %s", ([image, driver]) => {
    expect(driverOf({ spec: { containers: [{ name: "x", image }] } }, policy)).toBe(driver);
  });

  test("means the mesh's driver if a container has the name of the mesh's proxy, even in a native sidecar", () => {
    const sidecar = { name: "linkerd-proxy", restartPolicy: "Always" };
    expect(driverOf({ spec: { containers: [{ name: "app" }], initContainers: [sidecar] } }, policy)).toBe("linkerd");
    expect(driverOf({ spec: { containers: [{ name: "app" }, { name: "istio-proxy" }] } }, policy)).toBe("istio");
  });
});

test("the injection adds a new hook token to a new Pod, and does not change an injected Pod's token", () => {
  const pod = { spec: { containers: [{ name: "app", image: "x" }] } };
  expect(JSON.stringify(injectedPodOf(pod))).toContain(TOKEN);
  expect(() => inject(injectedPodOf(pod), { token: "must not be used" })).not.toThrow();
  expect(JSON.stringify(inject(injectedPodOf(pod), { token: "ffff" }))).not.toContain("ffff");
});

test("the status annotation of an injected Pod stays below 1 KiB", () => {
  const own = { lifecycle: { preStop: { exec: { command: ["x"] } } } };
  const containers = Array.from({ length: 60 }, (_, at) => ({ name: `c${at}-${"y".repeat(58)}`, image: "x", ...own }));
  const pod = { spec: { containers: [{ name: "app", image: "x" }, ...containers] } };
  const { metadata } = injectedPodOf(pod) as { metadata: { annotations: Record<string, string> } };
  expect(metadata.annotations["lastcall.dev/status"]?.length).toBeLessThan(1_024);
});

describe("the reason of a skipped Pod", () => {
  const createPorts = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ containerPort: first + index }));
  const messageOf = (pod: object, inputs: Parameters<typeof inject>[1] = {}): string =>
    inject(pod, inputs)
      .explanation.problems.filter(({ code }) => code === "not_injected")
      .map(({ where, message }) => `${where}: ${message}`)
      .join();

  test("contains the containers, their ports and the annotation if the manager's port range is in use", () => {
    const containers = [
      { name: "app", image: "app", ports: createPorts(17_890, 50) },
      { name: "proxy", image: "proxy", ports: createPorts(17_940, 50) },
    ];
    expect(messageOf({ spec: { containers } })).toBe(
      "pod without name, lastcall.dev/port: Ports 17890-17939 (container app), 17940-17989 (container proxy) are in use. " +
        "Set a free port.",
    );
  });

  test("contains a configured port outside of the range, and a shortened list of other ports", () => {
    const containers = [
      { name: "a".repeat(63), image: "app", ports: [{ containerPort: 9_000 }, ...createPorts(17_890, 99)] },
      { name: "b".repeat(63), image: "app", ports: createPorts(17_989, 1) },
    ];
    const metadata = { annotations: { "lastcall.dev/port": "9000" } };
    const message = messageOf({ metadata, spec: { containers } });
    expect(message).toContain(`Ports 9000 (container ${"a".repeat(63)}), and more are in use. Set a free port.`);
    expect(inject({ metadata, spec: { containers } }).explanation.problems[0]?.message.length).toBeLessThanOrEqual(200);
  });

  test("contains the size of a patch that is too large", () => {
    const limits = { containers: 1_000, patchBytes: 10 };
    const message = messageOf({ spec: { containers: [{ name: "app", image: "app" }] } }, { request: { limits } });
    expect(message).toMatch(
      /^pod without name: The patch that injects the Pod has [1-9][0-9]+ bytes, more than the limit of 10\.$/,
    );
  });

  test("is not sent as a warning for a Pod without opt-in", () => {
    const pod = { spec: { hostNetwork: true, containers: [{ name: "app", image: "app" }] } };
    expect(messageOf(pod, { request: { optIn: "label" } })).toBe("");
    expect(messageOf(pod)).toContain("spec.hostNetwork: Is true.");
  });
});
