/** One streamed answer to the question whether the Pod is out of rotation, with a bound on all that the relay may send. */
import {
  RELAY_LINE_LIMIT_BYTES,
  WITHDRAWAL_PATH,
  WITHDRAWAL_PULSE_QUERY,
  type WithdrawalQuestion,
} from "../../contract/relay-wire.ts";
import type { NowMs } from "../ports.ts";
import { createFloodGate } from "./flood-gate.ts";
import { createLineBuffer } from "./line-buffer.ts";
import { callRelay } from "./relay-call.ts";
import type { RelaySettings } from "./relay-settings.ts";
import { parseRelayWord, type RelayWord } from "./relay-word.ts";

export type StreamEars = {
  readonly onWord: (word: RelayWord) => void;
  /** Called once, unless the stream was dropped. */
  readonly onBroke: (reason: string) => void;
};

/** Per second. Pulses and changes are a few lines. */
const LIMITS = { bytes: 16 * RELAY_LINE_LIMIT_BYTES, lines: 50 };

/** @returns what drops the stream */
export function openWithdrawal(settings: RelaySettings, pulse: boolean, nowMs: NowMs, ears: StreamEars): () => void {
  const buffer = createLineBuffer(RELAY_LINE_LIMIT_BYTES);
  const gate = createFloodGate(LIMITS, nowMs);
  let open = true;
  let drop = (): void => {};
  const close = (): void => {
    open = false;
    drop();
  };
  const give = (reason: string): void => {
    if (!open) return;
    close();
    ears.onBroke(reason);
  };

  const takeBytes = (chunk: Buffer): void => {
    const lines = buffer.take(chunk);
    if (lines === undefined) give(`its line is longer than ${RELAY_LINE_LIMIT_BYTES} bytes`);
    else if (!gate.admits(chunk.length, lines.length)) give("it floods");
    else for (const line of lines) takeLine(line);
  };
  const takeLine = (line: string): void => {
    // The line before may have ended the stream.
    if (!open) return;
    const word = parseRelayWord(line);
    if (word === undefined) give("it wrote a line that is no answer");
    else ears.onWord(word);
  };

  const path = pulse ? `${WITHDRAWAL_PATH}${WITHDRAWAL_PULSE_QUERY}` : WITHDRAWAL_PATH;
  drop = callRelay(
    settings,
    { path, body: questionOf(settings) },
    {
      onStatus: (status) => {
        if (status !== 200) give(`it answered ${status}`);
      },
      onBytes: (chunk) => {
        if (open) takeBytes(chunk);
      },
      onEnd: (failure) => give(failure === "" ? "it ended its answer" : failure),
    },
  );
  return close;
}

function questionOf(settings: RelaySettings): string {
  const { namespace, pod, uid, addresses } = settings;
  const question: WithdrawalQuestion = { namespace, pod, uid, addresses };
  return JSON.stringify(question);
}
