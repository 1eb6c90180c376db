/**
 * `lastcall relay`: the relay's client, a process that lives as long as a drain. The manager talks with it over its
 * standard input and output, in the lines of ipc-messages.ts; when the input ends, so does the process. What goes wrong
 * with TLS goes wrong here, and costs no hold.
 */
import { EXIT_OK, EXIT_USAGE } from "../../contract/exit-codes.ts";
import { VARIABLES } from "../../contract/manager-environment.ts";
import { createLineBuffer } from "../line-buffer.ts";
import type { Outside } from "../outside.ts";
import { CLIENT_LINE_LIMIT_BYTES, type ClientNews, type ClientOrder, formatNews, parseOrder } from "./ipc-messages.ts";
import { deliverReport, openWithdrawal } from "./relay-connection.ts";
import { beginSession, type SessionAction, type SessionEvent, stepSession } from "./relay-session.ts";
import { type RelaySettings, readRelaySettings } from "./relay-settings.ts";

export function runRelay(outside: Outside): void {
  const read = readRelaySettings(outside.environment);
  if (read.settings === undefined) {
    outside.complain(`lastcall relay: ${read.problem === "" ? `${VARIABLES.relayAddress} is not set` : read.problem}`);
    outside.exit(EXIT_USAGE);
    return;
  }
  ask(read.settings, outside);
}

type OpenStream = { readonly id: number; readonly drop: () => void };

/** Whatever waits in the kernel is read before time is judged. */
const ONE_TURN_MS = 1;

function ask(settings: RelaySettings, outside: Outside): void {
  const { nowMs } = outside;
  let session = beginSession(nowMs());
  let streams: OpenStream[] = [];
  let timer: NodeJS.Timeout | null = null;
  let wakeAtMs = -1;
  let delivering = false;

  const tell = (news: ClientNews): void => outside.log(formatNews(news));

  const dial = (id: number, heartbeat: boolean): void => {
    tell({ kind: "dials" });
    const drop = openWithdrawal(settings, heartbeat, nowMs, {
      onWord: (word) => {
        hear({ kind: "spoke", nowMs: nowMs(), id, offered: word.offered });
        if (session.current === id) tell({ kind: "said", word });
      },
      onBroke: (reason) => {
        streams = streams.filter((stream) => stream.id !== id);
        hear({ kind: "broke", nowMs: nowMs(), id, reason });
      },
    });
    streams.push({ id, drop });
  };

  const perform = (action: SessionAction): void => {
    switch (action.kind) {
      case "dial":
        dial(action.id, action.heartbeat);
        return;
      case "drop": {
        const stream = streams.find((one) => one.id === action.id);
        streams = streams.filter((one) => one.id !== action.id);
        if (stream !== undefined) stream.drop();
        return;
      }
      case "lost":
        tell({ kind: "lost", reason: action.reason });
        return;
      default:
        return;
    }
  };

  const onTimer = (): void => {
    const lateMs = nowMs() - wakeAtMs;
    timer = setTimeout(() => {
      timer = null;
      hear({ kind: "tick", nowMs: nowMs(), lateMs });
    }, ONE_TURN_MS);
  };

  const hear = (event: SessionEvent): void => {
    const next = stepSession(session, event);
    session = next.session;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    wakeAtMs = next.wakeAtMs;
    if (wakeAtMs >= 0) timer = setTimeout(onTimer, Math.max(0, Math.ceil(wakeAtMs - nowMs())));
    for (const action of next.actions) perform(action);
  };

  const deliver = (report: string): void => {
    delivering = true;
    hear({ kind: "rest", nowMs: nowMs() });
    deliverReport(settings, report, {
      onDial: () => tell({ kind: "dials" }),
      onEnd: (failure) => {
        tell(failure === "" ? { kind: "delivered" } : { kind: "undelivered", reason: failure });
        outside.exit(EXIT_OK);
      },
    });
  };

  const obey = (order: ClientOrder): void => {
    if (order.kind === "floor") hear({ kind: "floor", nowMs: nowMs(), inMs: order.inMs });
    else if (order.kind === "rest") hear({ kind: "rest", nowMs: nowMs() });
    else if (!delivering) deliver(order.report);
  };

  const orders = createLineBuffer(CLIENT_LINE_LIMIT_BYTES);
  outside.readInput(
    (chunk) => {
      for (const line of orders.take(chunk) ?? []) {
        const order = parseOrder(line);
        if (order !== undefined) obey(order);
      }
    },
    () => {
      if (!delivering) outside.exit(EXIT_OK);
    },
  );
  hear({ kind: "tick", nowMs: nowMs(), lateMs: 0 });
}
