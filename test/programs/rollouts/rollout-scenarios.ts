/** Lists the scenarios of the benchmark, and the shorter scenarios of each test run. Pure. */
import type { ClientKind, LoadChoice } from "./load-plan.ts";
import {
  type AppShutdown,
  type DrainSettings,
  type Driver,
  type Ending,
  PROTOCOLS,
  type Protocol,
} from "./rollouts-request.ts";

export type RolloutScenario = LoadChoice & {
  /** Part of the scenario's name, to distinguish scenarios with the same load; if empty, the name contains the driver instead. */
  readonly label: string;
  readonly shutdown: AppShutdown;
  readonly ending: Ending;
  /** Delays until the client nodes apply endpoint changes. */
  readonly propagationMs: readonly number[];
  readonly rollouts: number;
  readonly waitsForEnds: boolean;
  readonly settings: DrainSettings;
  /** Whether the check forbids failed requests. For endless clients without a driver it only counts them. */
  readonly promised: boolean;
};

/** Delays of the two client nodes; the drain delay is longer than both. */
export const PROPAGATION_MS = [500, 1_000] as const;
const DELAY_MS = 2_000;
const QUIET_MS = 1_000;
/** Drain timeouts: longer than the connections' lifetime of 10 s, and a short timeout for clients that never close. */
const LONG_TIMEOUT_MS = 20_000;
const SHORT_TIMEOUT_MS = 3_000;

export const SLOWEST_RESPONSE_MS = 4_000;

const CLIENT_KINDS: readonly { readonly clients: ClientKind; readonly driver: Driver }[] = [
  { clients: "short-lived", driver: "none" },
  { clients: "endless", driver: "http" },
  { clients: "endless", driver: "envoy" },
  { clients: "endless", driver: "none" },
];

export const BENCH_SCENARIOS: readonly RolloutScenario[] = CLIENT_KINDS.flatMap((kind) =>
  PROTOCOLS.map((protocol) =>
    buildScenario({ ...kind, protocols: [protocol], slowestResponseMs: SLOWEST_RESPONSE_MS }, 20),
  ),
);

/** Each scenario runs all protocols at the same time. The `promised` scenarios have 20 rollouts in total; no request may fail. */
export const TEST_SCENARIOS: readonly RolloutScenario[] = CLIENT_KINDS.map((kind, index) =>
  buildScenario({ ...kind, protocols: PROTOCOLS, slowestResponseMs: SLOWEST_RESPONSE_MS }, [8, 6, 6, 2][index] ?? 2),
);

function buildScenario(choice: LoadChoice, rollouts: number): RolloutScenario {
  const promised = choice.clients === "short-lived" || choice.driver !== "none";
  const settings = { delayMs: DELAY_MS, quietMs: QUIET_MS, timeoutMs: promised ? LONG_TIMEOUT_MS : SHORT_TIMEOUT_MS };
  const endOptions = { label: "", shutdown: "abrupt", ending: "defaults", waitsForEnds: false } as const;
  return { ...choice, ...endOptions, propagationMs: PROPAGATION_MS, rollouts, settings, promised };
}

const PROTOCOL_NAMES: Readonly<Record<Protocol, string>> = { http1: "HTTP/1.1", http2: "HTTP/2", grpc: "gRPC" };

export function scenarioName({ protocols, clients, driver, label }: RolloutScenario): string {
  const driverLabel = driver === "none" ? "no driver" : `driver ${driver}`;
  const load = [protocolNames(protocols), `${clients} clients`];
  return [...load, label === "" ? driverLabel : label].join(", ");
}

export function protocolNames(protocols: readonly Protocol[]): string {
  return protocols.map((protocol) => PROTOCOL_NAMES[protocol]).join(" + ");
}
