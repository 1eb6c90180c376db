/** Starts and ends the relay client process, and passes statuses to the drain. Every failure becomes the status `unknown`. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { delayEndMs } from "../drain/drain-plan.ts";
import type { DrainState } from "../drain/drain-state.ts";
import { isTerminationUnconfirmed } from "../drain/hook-calls.ts";
import type { NowMs } from "../ports.ts";
import { type ClientHandle, createClientHandle, type StartClient } from "./client-process.ts";
import { type ClientMessage, isSameStatus, unknownStatus, type WithdrawalStatus } from "./ipc-messages.ts";

export type RelayDemand =
  | { readonly kind: "none" }
  /** `delayEndMs`: time from which the drain waits only for the withdrawal; -1 before a drain starts. */
  | { readonly kind: "status"; readonly delayEndMs: number }
  | { readonly kind: "report" };

const NO_DEMAND: RelayDemand = { kind: "none" };

export function relayDemandOf(settings: DrainSettings, state: DrainState): RelayDemand {
  const { phase } = state;
  switch (phase.name) {
    case "idle":
      // A hook does not show whether the Pod is being deleted or a container restarts.
      return isTerminationUnconfirmed(state.hooks) ? { kind: "status", delayEndMs: -1 } : NO_DEMAND;
    case "withdrawing":
      return { kind: "status", delayEndMs: delayEndMs(settings, phase.drain.triggeredAtMs) };
    case "draining":
      return { kind: "report" };
    case "holding":
      return { kind: "report" };
    default:
      return NO_DEMAND;
  }
}

type RelayClientParts = {
  readonly start: StartClient;
  readonly nowMs: NowMs;
  /** @param isFromRelay whether the relay sent the status; otherwise it is from the relay client or the manager */
  readonly onStatus: (status: WithdrawalStatus, isFromRelay: boolean) => void;
  readonly onReported: (failure: string) => void;
};

export type RelayClient = {
  readonly setDemand: (demand: RelayDemand) => void;
  /** Replaces a report that is being delivered. */
  readonly deliver: (report: string) => void;
  /** Sends the report of a running drain; lost if no relay client runs. */
  readonly sendProgress: (report: string) => void;
  readonly dialCount: () => number;
  /** Waits for a report that is being delivered; called before the manager exits. */
  readonly awaitDelivery: (limitMs: number, done: () => void) => void;
};

export const NO_RESPONSE_YET = "no answer yet";

/** During a drain, a working relay client writes at shorter intervals, independent of the relay. */
const HANG_TIMEOUT_MS = 4_000;
const RESTART_MS = 1_000;
const STARTS_LIMIT = 4;
/** Enough for two attempts of 2 s each, and the start of the process. */
const DELIVERY_LIMIT_MS = 6_000;
/** Delay between the timer and the check that it starts. During the delay the event loop reads the pipe. */
const ONE_TURN_MS = 1;

export function createRelayClient(parts: RelayClientParts): RelayClient {
  const { nowMs } = parts;
  let startCount = 0;
  let startedAtMs = -1;
  let dialCount = 0;
  let demand: RelayDemand = NO_DEMAND;
  let isDelaySent = false;
  let isDisconnected = false;
  let isDelivering = false;
  let lastStatus = unknownStatus("");
  let timeout: NodeJS.Timeout | null = null;
  let onDeliveryEnd = (): void => {};

  const stopTimeout = (): void => {
    if (timeout !== null) clearTimeout(timeout);
    timeout = null;
  };

  const notifyStatus = (status: WithdrawalStatus, isFromRelay: boolean): void => {
    if (demand.kind !== "status" || isSameStatus(status, lastStatus)) return;
    lastStatus = status;
    parts.onStatus(status, isFromRelay);
  };
  const notifyUnknown = (why: string): void => notifyStatus(unknownStatus(why), false);

  const notifyReported = (failure: string): void => {
    if (!isDelivering) return;
    isDelivering = false;
    parts.onReported(failure);
  };

  const onExit = (why: string): void => {
    stopTimeout();
    notifyReported(why);
    notifyUnknown(why);
    onDeliveryEnd();
  };

  const onMessage = (message: ClientMessage): void => {
    switch (message.kind) {
      case "dial":
        dialCount = dialCount + 1;
        break;
      case "status":
        notifyStatus(message.status, true);
        break;
      case "lost":
        notifyUnknown(message.reason);
        break;
      case "delivered":
        notifyReported("");
        break;
      default:
        notifyReported(message.reason);
    }
    armHangTimer();
  };

  const client: ClientHandle = createClientHandle({ start: parts.start, nowMs, onMessage, onExit });

  const start = (): void => {
    startCount = startCount + 1;
    startedAtMs = nowMs();
    isDelaySent = false;
    isDisconnected = false;
    client.start();
    if (lastStatus.reason === "") notifyUnknown(NO_RESPONSE_YET);
  };

  /** Starts the timer that ends a hanging relay client, which would delay the drain beyond the drain delay. */
  const armHangTimer = (): void => {
    if (isDelivering) return;
    stopTimeout();
    if (!client.isRunning() || demand.kind !== "status" || demand.delayEndMs < 0 || lastStatus.endpointState !== "in")
      return;
    const dueMs = Math.max(demand.delayEndMs, client.lastReceivedAtMs()) + HANG_TIMEOUT_MS;
    const readThenCheck = (): void => {
      timeout = setTimeout(checkHang, ONE_TURN_MS);
    };
    timeout = setTimeout(readThenCheck, Math.max(0, Math.ceil(dueMs - nowMs())));
  };
  const checkHang = (): void => {
    timeout = null;
    if (nowMs() - client.lastReceivedAtMs() >= HANG_TIMEOUT_MS) client.end("the relay client does not respond");
    else armHangTimer();
  };

  const requestStatus = (drainDelayEndMs: number): void => {
    const mayStart = startCount < STARTS_LIMIT && (startedAtMs < 0 || nowMs() - startedAtMs >= RESTART_MS);
    if (!client.isRunning() && mayStart) start();
    if (drainDelayEndMs >= 0 && client.isRunning() && !isDelaySent) {
      isDelaySent = true;
      client.send({ kind: "drain-delay", inMs: drainDelayEndMs - nowMs() });
    }
  };

  const disconnect = (): void => {
    if (!client.isRunning() || isDisconnected) return;
    isDisconnected = true;
    client.send({ kind: "disconnect" });
  };

  const endClient = (): void => {
    startCount = 0;
    startedAtMs = -1;
    lastStatus = unknownStatus("");
    if (!isDelivering && client.isRunning()) client.end("");
  };

  return {
    dialCount: () => dialCount,
    setDemand: (newDemand) => {
      demand = newDemand;
      if (newDemand.kind === "status") requestStatus(newDemand.delayEndMs);
      else if (newDemand.kind === "report") disconnect();
      else endClient();
      armHangTimer();
    },
    deliver: (report) => {
      if (isDelivering) client.end("a later report replaced this report");
      if (!client.isRunning()) start();
      isDelivering = true;
      client.send({ kind: "report", report });
      stopTimeout();
      timeout = setTimeout(() => client.end("the relay client did not deliver the report in time"), DELIVERY_LIMIT_MS);
    },
    sendProgress: (report) => {
      if (!isDelivering) client.send({ kind: "progress", report });
    },
    awaitDelivery: (limitMs, done) => {
      if (!isDelivering || !client.isRunning()) {
        done();
        return;
      }
      const finish = (): void => {
        onDeliveryEnd = () => {};
        clearTimeout(timer);
        done();
      };
      const timer = setTimeout(finish, limitMs);
      onDeliveryEnd = finish;
    },
  };
}

export const NO_RELAY: RelayClient = {
  setDemand: () => {},
  deliver: () => {},
  sendProgress: () => {},
  dialCount: () => 0,
  awaitDelivery: (_limitMs, done) => done(),
};
