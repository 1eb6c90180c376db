/** The result of one sample: the Pod's traffic. */
import type { OpenConnection } from "../../contract/drain-report.ts";
import type { PodActivity } from "./quiet.ts";

/** Connections that completed exchanges during the drain and continue; see `cycling.ts`. */
export type CyclingConnections = {
  readonly connectionCount: number;
  /** Number of these connections with an outstanding response. */
  readonly outstandingResponses: number;
  /** Activity of all other connections. */
  readonly othersActivity: PodActivity;
  /** Monotonic time of the last traffic of all other connections; -1 for none. */
  readonly othersEvidenceMs: number;
  /** Monotonic time of the last sample with a new connection; -1 for none. */
  readonly lastArrivalMs: number;
};

export type Observation =
  /** `blind`: no source could be read; otherwise a source was incomplete. */
  | { readonly known: false; readonly why: string; readonly blind: boolean }
  | {
      readonly known: true;
      /**
       * Whether a TCP listener (`hasUdp`: a bound UDP socket) on a non-loopback address exists, except on ports of the manager and
       * of meshes. A listener on the port of `active-url` counts on any address.
       */
      readonly hasTcpListener: boolean;
      readonly hasUdp: boolean;
      readonly openConnections: number;
      readonly activity: PodActivity;
      /** Monotonic time of the last traffic of all samples: a new or busy connection, or data on an idle connection; -1 for none. */
      readonly lastEvidenceMs: number;
      readonly evidenceSource: string;
      readonly left: readonly OpenConnection[];
      readonly leftTotal: number;
      readonly untracked: number;
      readonly cycling: CyclingConnections;
    };
