/** What is rolled, and what must come of it: the scenes of the bench, and the shorter ones of each test run. Pure. */
import type { Clients, LoadChoice } from "./load-plan.ts";
import { type DrainSettings, type Driver, PROTOCOLS, type Protocol } from "./rollouts-request.ts";

export type RolloutScene = LoadChoice & {
  readonly rollouts: number;
  readonly settings: DrainSettings;
  /** Whether no request may fail. Without a driver no one sends endless clients away: counted, never promised. */
  readonly promised: boolean;
};

/** How late the two nodes of clients learn of endpoint changes; the drain delay is longer than both. */
export const PROPAGATION_MS = [500, 1_000] as const;
const DELAY_MS = 2_000;
const QUIET_MS = 1_000;
/** Out of reach of connections that live 10 s; where clients never leave no one wants to wait that long. */
const FAR_MS = 20_000;
const NEAR_MS = 3_000;

const KINDS: readonly { readonly clients: Clients; readonly driver: Driver }[] = [
  { clients: "short-lived", driver: "none" },
  { clients: "endless", driver: "http" },
  { clients: "endless", driver: "envoy" },
  { clients: "endless", driver: "none" },
];

/** Every protocol by itself, with the rate for it alone. */
export const BENCH_SCENES: readonly RolloutScene[] = KINDS.flatMap((kind) =>
  PROTOCOLS.map((protocol) => scene({ ...kind, protocols: [protocol] }, 20)),
);

/** All protocols at once, 20 rollouts in all that must lose nothing. */
export const TEST_SCENES: readonly RolloutScene[] = KINDS.map((kind, index) =>
  scene({ ...kind, protocols: PROTOCOLS }, [8, 6, 6, 2][index] ?? 2),
);

function scene(choice: LoadChoice, rollouts: number): RolloutScene {
  const promised = choice.clients === "short-lived" || choice.driver !== "none";
  const settings = { delayMs: DELAY_MS, quietMs: QUIET_MS, timeoutMs: promised ? FAR_MS : NEAR_MS };
  return { ...choice, rollouts, settings, promised };
}

const NAMES: Readonly<Record<Protocol, string>> = { http1: "HTTP/1.1", http2: "HTTP/2", grpc: "gRPC" };

/** `HTTP/2, short-lived clients, no driver`. */
export function sceneName({ protocols, clients, driver }: LoadChoice): string {
  const driven = driver === "none" ? "no driver" : `driver ${driver}`;
  return [protocolNames(protocols), `${clients} clients`, driven].join(", ");
}

export function protocolNames(protocols: readonly Protocol[]): string {
  return protocols.map((protocol) => NAMES[protocol]).join(" + ");
}
