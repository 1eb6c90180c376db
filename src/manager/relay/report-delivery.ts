/** Brings the report of a drain to the relay: one try, and one more on another connection. */
import { DRAINS_PATH, RELAY_BODY_LIMIT_BYTES } from "../../contract/relay-wire.ts";
import { callRelay } from "./relay-call.ts";
import type { RelaySettings } from "./relay-settings.ts";

/** For one try: it ends the manager's life at a Pod's end, which must not become longer. */
const TRY_LIMIT_MS = 2_000;
const TRIES = 2;

export type Delivery = {
  /** A connection is about to be opened. */
  readonly onDial: () => void;
  /** Called once; empty, or why the report is lost. */
  readonly onEnd: (failure: string) => void;
};

/** @param report its JSON */
export function deliverReport(settings: RelaySettings, report: string, delivery: Delivery): void {
  const { namespace, pod, uid } = settings;
  // The report is JSON already, and goes on as it is.
  const body = `{"namespace":${JSON.stringify(namespace)},"pod":${JSON.stringify(pod)},"uid":${JSON.stringify(uid)},"report":${report}}`;
  if (Buffer.byteLength(body) > RELAY_BODY_LIMIT_BYTES) {
    delivery.onEnd("it is too long");
    return;
  }
  attempt(settings, body, TRIES, delivery);
}

function attempt(settings: RelaySettings, body: string, tries: number, delivery: Delivery): void {
  let settled = false;
  const settle = (failure: string, final: boolean): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    drop();
    if (failure === "" || final || tries <= 1) delivery.onEnd(failure);
    else attempt(settings, body, tries - 1, delivery);
  };
  const timer = setTimeout(() => settle(`no answer within ${TRY_LIMIT_MS} ms`, false), TRY_LIMIT_MS);
  delivery.onDial();
  const drop = callRelay(
    settings,
    { path: DRAINS_PATH, body },
    {
      // What the relay does not want it will not want a moment later; only its own trouble passes.
      onStatus: (status) => settle(status >= 200 && status < 300 ? "" : `it answered ${status}`, status < 500),
      onBytes: () => {},
      onEnd: (failure) => settle(failure, false),
    },
  );
}
