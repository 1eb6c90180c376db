/** Connects to the relay as an injected Pod does, with the manager's own client and the injected variables. */
import type { WithdrawalStatusLine } from "../../src/contract/relay-wire.ts";
import { WITHDRAWAL_PATH } from "../../src/contract/relay-wire.ts";
import { environmentOf } from "../../src/manager/platform.ts";
import { callRelay, deliverReport } from "../../src/manager/relay/relay-connection.ts";
import { type RelaySettings, readRelaySettings } from "../../src/manager/relay/relay-settings.ts";
import { at, listOf } from "./rendering.ts";

export type Identity = { readonly name: string; readonly uid: string; readonly address: string };

type Variable = { readonly name: string; readonly value?: string };

/** @throws if the Pod's relay variables are missing or invalid */
export function relayOf(pod: unknown, { name, uid, address }: Identity): RelaySettings {
  const containers = listOf<{ readonly name: string }>(pod, "spec", "initContainers");
  const manager = containers.find((container) => container.name === "lastcall");
  const values = new Map(listOf<Variable>(manager, "env").map((variable) => [variable.name, variable.value]));
  const namespace = String(at(pod, "metadata", "namespace"));
  const environment = environmentOf((variable) => values.get(variable));
  const podVariables = { podName: name, podNamespace: namespace, podUid: uid, podIps: address };
  const { settings, problem } = readRelaySettings({ ...environment, ...podVariables });
  if (settings === undefined) throw new Error(problem === "" ? "the Pod has no relay variables" : problem);
  return settings;
}

export type RelaySession = {
  /** The last status line. */
  readonly lastLine: () => WithdrawalStatusLine | undefined;
  /** Empty, or the reason for the end of the stream. */
  readonly failure: () => string;
  readonly stop: () => void;
};

export function watchWithdrawal(settings: RelaySettings): RelaySession {
  const { namespace, pod, uid, addresses } = settings;
  let text = "";
  let streamFailure = "";
  const body = JSON.stringify({ namespace, pod, uid, addresses });
  const exchange = callRelay(
    settings,
    { path: WITHDRAWAL_PATH, body },
    {
      onStatus: (status) => {
        if (status !== 200) streamFailure = `the relay responded with status ${status}`;
      },
      onBytes: (chunk) => {
        text += chunk.toString("utf8");
        return "";
      },
      onEnd: (failure) => {
        streamFailure = failure === "" ? "the relay closed the stream" : failure;
      },
    },
  );
  const readLastLine = (): WithdrawalStatusLine | undefined => {
    const line = text.split("\n").at(-2);
    return line === undefined ? undefined : (JSON.parse(line) as WithdrawalStatusLine);
  };
  return { lastLine: readLastLine, failure: () => streamFailure, stop: exchange.destroy };
}

/** Resolves with "" after the delivery, or with the reason for the failure. */
export function sendReport(settings: RelaySettings, drain: object): Promise<string> {
  return new Promise((resolve) => {
    deliverReport(settings, JSON.stringify(drain), 2, { onDial: () => undefined, onEnd: resolve });
  });
}
