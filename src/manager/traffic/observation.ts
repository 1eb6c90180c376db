/** One judgement of the Pod's traffic per poll, as data. */
import type { OpenConnection } from "../../contract/drain-report.ts";

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
      /** True when nothing is going on right now: backlog 0, no SYN_RECV, no busy connection, and the idle state of all is known. */
      readonly calm: boolean;
      /** True when nothing is seen to be going on, and of some open connections the source cannot tell. */
      readonly untold: boolean;
      /** Monotonic time of the last evidence of traffic seen so far (new connection, busy connection, data on an idle one); -1 when none. */
      readonly lastEvidenceMs: number;
      readonly witness: string;
      readonly left: readonly OpenConnection[];
      readonly leftTotal: number;
      /** Connections beyond what can be remembered from look to look: counted, and never taken for calm. */
      readonly unfollowed: number;
    };
