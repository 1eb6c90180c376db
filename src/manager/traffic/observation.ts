/** The observation of the Pod's traffic in one sample. */
import type { OpenConnection } from "../../contract/drain-report.ts";
import type { PodActivity } from "./quiet.ts";

export type Observation =
  /** `blind`: no source could be read; otherwise a source was incomplete. */
  | { readonly known: false; readonly why: string; readonly blind: boolean }
  | {
      readonly known: true;
      /**
       * A TCP listener, or a bound UDP socket, on a non-loopback address, except the manager's and mesh ports. The port of `active-url`
       * counts on any address.
       */
      readonly hasTcpListener: boolean;
      readonly hasUdp: boolean;
      readonly openConnections: number;
      readonly activity: PodActivity;
      /** Monotonic time of the last traffic so far (new connection, busy connection, data on an idle one); -1 without any. */
      readonly lastEvidenceMs: number;
      readonly evidenceSource: string;
      readonly left: readonly OpenConnection[];
      readonly leftTotal: number;
      readonly untracked: number;
    };
