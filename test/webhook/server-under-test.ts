/** Builds the server without a port, with the injector of a test, and collects its log and metrics. */
import type { Writable } from "node:stream";
import { PassThrough } from "node:stream";
import { type ClusterFacts, injectPod } from "../../src/injection/inject.ts";
import { DEFAULT_CONFIG } from "../../src/policy/cluster-config.ts";
import type { AdmissionPorts, AdmissionRules, NamespaceAnnotations } from "../../src/webhook/admission/admit.ts";
import { createLog } from "../../src/webhook/log.ts";
import { createMetrics } from "../../src/webhook/metrics.ts";
import { buildServer, type WebhookServer } from "../../src/webhook/server.ts";

export const FACTS: ClusterFacts = {
  apiServerVersion: "1.33",
  lowestKubeletVersion: undefined,
  managerImage: "registry.example/lastcall-manager:1",
  systemNamespaces: ["kube-system", "lastcall"],
};

export const RULES: AdmissionRules = { optIn: "all", config: DEFAULT_CONFIG, facts: FACTS };

export type ServerOptions = {
  readonly rules?: Partial<AdmissionRules>;
  readonly inject?: AdmissionPorts["inject"];
  readonly namespaceAnnotations?: NamespaceAnnotations;
  readonly reportSettings?: AdmissionPorts["reportSettings"];
  readonly unreadyReason?: () => string;
  readonly nowMs?: () => number;
};

export type LogLine = Readonly<Record<string, unknown>>;

export type ServerUnderTest = {
  readonly app: WebhookServer;
  readonly lines: () => readonly LogLine[];
  readonly logText: () => string;
  readonly metrics: () => Promise<string>;
};

export function createServerUnderTest(options: ServerOptions = {}): ServerUnderTest {
  const sink = new PassThrough();
  const texts: string[] = [];
  sink.on("data", (chunk: Buffer) => texts.push(chunk.toString()));
  const metrics = createMetrics();
  let tokenCount = 0;
  const newToken = (): string => {
    tokenCount += 1;
    return String(tokenCount).padStart(32, "0");
  };
  const app = buildServer(
    { ...RULES, ...options.rules },
    {
      namespaceAnnotations: options.namespaceAnnotations ?? (async () => ({})),
      randomness: { newToken },
      inject: options.inject ?? injectPod,
      ...(options.reportSettings === undefined ? {} : { reportSettings: options.reportSettings }),
      log: createLog("info", sink as Writable),
      metrics,
      nowMs: options.nowMs ?? (() => performance.now()),
      isStopping: () => false,
      unreadyReason: options.unreadyReason ?? (() => ""),
    },
  );
  const logText = () => texts.join("");
  const lines = () =>
    logText()
      .split("\n")
      .filter((line) => line !== "")
      .map((line): LogLine => JSON.parse(line));
  return { app, lines, logText, metrics: () => metrics.render() };
}

/** Returns the Prometheus samples of one metric, by their label text. */
export function samplesOf(metrics: string, name: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  for (const line of metrics.split("\n")) {
    const match = /^([a-z_]+)(\{.*\})? ([0-9.e+-]+)$/.exec(line);
    if (match?.[1] === name) samples.set(match[2] ?? "", Number(match[3]));
  }
  return samples;
}

export function sumOf(samples: ReadonlyMap<string, number>): number {
  return [...samples.values()].reduce((left, right) => left + right, 0);
}
