/** One judgement of the Pod's traffic per poll, as data. */
import type { OpenConnection } from "../../contract/drain-report.ts";
import type { PodActivity } from "./quiet.ts";

/** What one poll means. Produced by `judge`, consumed by the drain machine. Unknown is never zero. */
export type Observation =
  /** `blind`: no source of the kernel could be read. Else there was one, and what it showed was not whole. */
  | { readonly known: false; readonly why: string; readonly blind: boolean }
  | {
      readonly known: true;
      /**
       * Anything at all that could carry traffic: a TCP listener, or bound UDP, on a non-loopback address (ours and mesh
       * ports aside). The port where the app counts its work is a listener too, on whatever address.
       */
      readonly hasTcpListener: boolean;
      readonly hasUdp: boolean;
      readonly openConnections: number;
      readonly activity: PodActivity;
      /** Monotonic time of the last evidence of traffic seen so far (new connection, busy connection, data on an idle one); -1 when none. */
      readonly lastEvidenceMs: number;
      readonly witness: string;
      readonly left: readonly OpenConnection[];
      readonly leftTotal: number;
      /** Connections beyond what can be remembered from look to look: counted, and never taken for quiet. */
      readonly unfollowed: number;
    };
