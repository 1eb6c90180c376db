/** What the program asks of the process inside the namespaces, and what comes back: plain JSON. */
import type { EnvoyResult } from "./envoy-result.ts";
import type { EnvoyProgram } from "./gateway-pod.ts";
import type { PeerProgram } from "./peer-process.ts";

export type PlayRequest = {
  /** By version. */
  readonly envoys: Readonly<Record<string, EnvoyProgram>>;
  readonly http3: PeerProgram;
  readonly grpcio: PeerProgram;
  /** The native manager; empty where it cannot be built. */
  readonly native: string;
  /** Names of cases; empty plays all. */
  readonly only: readonly string[];
};

/** By the name of the case. */
export type PlayResult = Readonly<Record<string, Played>>;

export type Played = { readonly result: EnvoyResult } | { readonly error: string };
