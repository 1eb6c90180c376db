/**
 * What crosses between the thread of the relay and that of the admissions: plain data that structured cloning takes, and
 * the keys that sign credentials as handles.
 */
import type { Note } from "../../api-server/event-object.ts";
import type { AccessIdentity } from "../identity/identity.ts";
import type { AdminListen } from "../page/admin-runner.ts";

/** What the relay's thread is begun with. */
export type ThreadSettings = {
  /** Empty: the account of the Pod this process runs in. */
  readonly kubeconfigFile: string;
  readonly namespace: string;
  readonly secretName: string;
  /** Empty: every address. */
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  readonly readsPods: boolean;
  /** 0: recent drains are not shown. */
  readonly adminPort: number;
  readonly adminListen: AdminListen;
  readonly instance: string;
  /** Time between two looks at the Secret. */
  readonly lookMs: number;
};

/** To the relay's thread. To stop is no order: a thread is ended, whatever it does. */
export type ThreadOrder =
  /** Ends its streams and says `left`. */
  | { readonly kind: "leave" }
  /** Says `figures` when it comes to it. */
  | { readonly kind: "figures" };

const LOG_LEVELS = ["info", "warn", "error"] as const;

/** From the relay's thread. */
export type ThreadWord =
  /** What Pods are given from now on; also when it is nothing. */
  | { readonly kind: "identity"; readonly identity: AccessIdentity }
  /** It listens, and has looked at the Secret or will not wait for it any longer. */
  | { readonly kind: "ready" }
  | { readonly kind: "note"; readonly note: Note }
  | {
      readonly kind: "line";
      readonly level: (typeof LOG_LEVELS)[number];
      readonly keys: object;
      readonly sentence: string;
    }
  /** Its metrics in the text format of Prometheus. */
  | { readonly kind: "figures"; readonly text: string }
  | { readonly kind: "left" };
