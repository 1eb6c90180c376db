/**
 * Runs `/lastcall relay-client`, which exchanges the lines of ipc-messages.ts with the manager over stdin and stdout, and exits
 * when stdin ends. It is a separate process, because a crash of the TLS library would end the manager's holds.
 */
import { EXIT_OK, EXIT_USAGE } from "../../contract/exit-codes.ts";
import { VARIABLES } from "../../contract/manager-environment.ts";
import { createLineBuffer } from "../line-buffer.ts";
import type { Platform } from "../platform.ts";
import {
  CLIENT_LINE_LIMIT_BYTES,
  type ClientCommand,
  type ClientMessage,
  formatMessage,
  parseCommand,
} from "./ipc-messages.ts";
import { deliverReport, openWithdrawal } from "./relay-connection.ts";
import { newSession, type SessionAction, type SessionEvent, stepSession } from "./relay-session.ts";
import { type RelaySettings, readRelaySettings } from "./relay-settings.ts";

export function runRelay(platform: Platform): void {
  const reading = readRelaySettings(platform.environment);
  if (reading.settings === undefined) {
    platform.printError(
      `lastcall relay-client: ${reading.problem === "" ? `${VARIABLES.relayAddress} is not set` : reading.problem}`,
    );
    platform.exit(EXIT_USAGE);
    return;
  }
  runClient(reading.settings, platform);
}

type OpenStream = { readonly id: number; readonly drop: () => void };

/** Each attempt takes up to 2 s, and the Pod terminates only after the delivery, because the manager waits for the delivery. */
const DELIVERY_ATTEMPTS = 2;
/** Delay between the timer and the tick that it starts. During the delay the event loop reads the sockets. */
const ONE_TURN_MS = 1;

function runClient(settings: RelaySettings, platform: Platform): void {
  const { nowMs } = platform;
  let session = newSession(nowMs());
  let streams: OpenStream[] = [];
  let timer: NodeJS.Timeout | null = null;
  let wakeAtMs = -1;
  let isDelivering = false;

  const send = (message: ClientMessage): void => platform.log(formatMessage(message));

  const dial = (id: number, hasHeartbeat: boolean): void => {
    send({ kind: "dial" });
    const drop = openWithdrawal(settings, hasHeartbeat, nowMs, {
      onStatus: (status) => {
        handle({ kind: "received", nowMs: nowMs(), id, endpointState: status.endpointState });
        if (session.currentId === id) send({ kind: "status", status });
      },
      onClosed: (reason) => {
        streams = streams.filter((stream) => stream.id !== id);
        handle({ kind: "closed", nowMs: nowMs(), id, reason });
      },
    });
    streams.push({ id, drop });
  };

  const perform = (action: SessionAction): void => {
    switch (action.kind) {
      case "dial":
        dial(action.id, action.hasHeartbeat);
        return;
      case "drop": {
        const stream = streams.find((one) => one.id === action.id);
        streams = streams.filter((one) => one.id !== action.id);
        if (stream !== undefined) stream.drop();
        return;
      }
      case "lost":
        send({ kind: "lost", reason: action.reason });
        return;
      default:
        return;
    }
  };

  const onTimer = (): void => {
    const lateMs = nowMs() - wakeAtMs;
    timer = setTimeout(() => {
      timer = null;
      handle({ kind: "tick", nowMs: nowMs(), lateMs });
    }, ONE_TURN_MS);
  };

  const handle = (event: SessionEvent): void => {
    const next = stepSession(session, event);
    session = next.session;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    wakeAtMs = next.wakeAtMs;
    if (wakeAtMs >= 0) timer = setTimeout(onTimer, Math.max(0, Math.ceil(wakeAtMs - nowMs())));
    for (const action of next.actions) perform(action);
  };

  const deliver = (report: string): void => {
    isDelivering = true;
    handle({ kind: "disconnect", nowMs: nowMs() });
    deliverReport(settings, report, DELIVERY_ATTEMPTS, {
      onDial: () => send({ kind: "dial" }),
      onEnd: (failure) => {
        send(failure === "" ? { kind: "delivered" } : { kind: "undelivered", reason: failure });
        platform.exit(EXIT_OK);
      },
    });
  };

  const sendProgress = (report: string): void =>
    deliverReport(settings, report, 1, { onDial: () => send({ kind: "dial" }), onEnd: () => {} });

  const execute = (command: ClientCommand): void => {
    switch (command.kind) {
      case "drain-delay":
        handle({ kind: "drain-delay", nowMs: nowMs(), inMs: command.inMs });
        return;
      case "disconnect":
        handle({ kind: "disconnect", nowMs: nowMs() });
        return;
      case "progress":
        sendProgress(command.report);
        return;
      default:
        if (!isDelivering) deliver(command.report);
    }
  };

  const commands = createLineBuffer(CLIENT_LINE_LIMIT_BYTES);
  platform.readInput(
    (chunk) => {
      for (const line of commands.addChunk(chunk) ?? []) {
        const command = parseCommand(line);
        if (command !== undefined) execute(command);
      }
    },
    () => {
      if (!isDelivering) platform.exit(EXIT_OK);
    },
  );
  handle({ kind: "tick", nowMs: nowMs(), lateMs: 0 });
}
