/** One relay client at a time, with a bound on what it may say. Late words of an earlier one are dropped. */
import type { NowMs } from "../ports.ts";
import { CLIENT_LINE_LIMIT_BYTES, type ClientNews, type ClientOrder, formatOrder, parseNews } from "./client-words.ts";
import { createFloodGate } from "./flood-gate.ts";
import { createLineBuffer } from "./line-buffer.ts";

/** A started client. Its orders may be lost when it has gone; that is told by its end. */
export type ClientProcess = { readonly write: (line: string) => void; readonly kill: () => void };

export type ClientEars = {
  readonly onOutput: (chunk: Buffer) => void;
  /** Called once, and never before the client was handed over. */
  readonly onEnd: (how: string) => void;
};

export type StartClient = (ears: ClientEars) => ClientProcess;

export type ClientHandleParts = {
  readonly start: StartClient;
  readonly nowMs: NowMs;
  readonly onNews: (news: ClientNews) => void;
  /** The client is no more: by itself, or ended for this reason. */
  readonly onGone: (why: string) => void;
};

export type ClientHandle = {
  readonly start: () => void;
  readonly runs: () => boolean;
  readonly order: (what: ClientOrder) => void;
  readonly end: (why: string) => void;
  readonly heardAtMs: () => number;
};

/** Per second. */
const LIMITS = { bytes: 8 * CLIENT_LINE_LIMIT_BYTES, lines: 200 };

export function createClientHandle(parts: ClientHandleParts): ClientHandle {
  const { nowMs } = parts;
  let client: ClientProcess | undefined;
  let generation = 0;
  let heardAtMs = -1;

  const forget = (why: string): void => {
    generation = generation + 1;
    client = undefined;
    parts.onGone(why);
  };

  const end = (why: string): void => {
    const running = client;
    if (running === undefined) return;
    forget(why);
    running.kill();
  };

  const take = (mine: number, line: string): void => {
    const news = parseNews(line);
    // One line may end the client in the middle of the others.
    if (news !== undefined && mine === generation) parts.onNews(news);
  };

  return {
    runs: () => client !== undefined,
    heardAtMs: () => heardAtMs,
    end,
    order: (what) => {
      if (client !== undefined) client.write(`${formatOrder(what)}\n`);
    },
    start: () => {
      generation = generation + 1;
      const mine = generation;
      const buffer = createLineBuffer(CLIENT_LINE_LIMIT_BYTES);
      const gate = createFloodGate(LIMITS, nowMs);
      heardAtMs = nowMs();
      client = parts.start({
        onOutput: (chunk) => {
          if (mine !== generation) return;
          heardAtMs = nowMs();
          const lines = buffer.take(chunk);
          if (lines === undefined || !gate.admits(chunk.length, lines.length)) end("the relay client floods");
          else for (const line of lines) take(mine, line);
        },
        onEnd: (how) => {
          if (mine === generation) forget(`the relay client ended: ${how}`);
        },
      });
    },
  };
}
