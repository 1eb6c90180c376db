/** What the manager and its relay client, a process of its own, say to each other: one line each. Pure. */
import { formatRelayWord, parseRelayWord, type RelayWord, shortReason } from "./relay-word.ts";

/** From the client to the manager. */
export type ClientNews =
  /** A connection is about to be opened: it is not to be taken for traffic. */
  | { readonly kind: "dials" }
  | { readonly kind: "said"; readonly word: RelayWord }
  /** What was said last is not vouched for any more. */
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "delivered" }
  | { readonly kind: "undelivered"; readonly reason: string };

/** From the manager to the client. */
export type ClientOrder =
  /** The drain has begun; its delay is over in so many milliseconds, and then it waits for the relay's word alone. */
  | { readonly kind: "floor"; readonly inMs: number }
  /** Nothing more is to be asked. */
  | { readonly kind: "rest" }
  /** The drain is over. `report` is its JSON. */
  | { readonly kind: "report"; readonly report: string };

/** A report and its envelope fit the relay's limit; so does every line. */
export const CLIENT_LINE_LIMIT_BYTES = 16_384;

export function formatNews(news: ClientNews): string {
  switch (news.kind) {
    case "said":
      return `said ${formatRelayWord(news.word)}`;
    case "lost":
      return `lost ${shortReason(news.reason)}`;
    case "undelivered":
      return `undelivered ${shortReason(news.reason)}`;
    default:
      return news.kind;
  }
}

/** @returns undefined for what no client writes */
export function parseNews(line: string): ClientNews | undefined {
  const rest = restOf(line);
  switch (wordOf(line)) {
    case "dials":
      return { kind: "dials" };
    case "said": {
      const word = parseRelayWord(rest);
      return word === undefined ? undefined : { kind: "said", word };
    }
    case "lost":
      return { kind: "lost", reason: shortReason(rest) };
    case "delivered":
      return { kind: "delivered" };
    case "undelivered":
      return { kind: "undelivered", reason: shortReason(rest) };
    default:
      return undefined;
  }
}

export function formatOrder(order: ClientOrder): string {
  switch (order.kind) {
    case "floor":
      return `floor ${Math.max(0, Math.round(order.inMs))}`;
    case "report":
      return `report ${order.report}`;
    default:
      return order.kind;
  }
}

export function parseOrder(line: string): ClientOrder | undefined {
  const rest = restOf(line);
  switch (wordOf(line)) {
    case "floor":
      return /^[0-9]{1,10}$/.test(rest) ? { kind: "floor", inMs: Number(rest) } : undefined;
    case "rest":
      return { kind: "rest" };
    case "report":
      return { kind: "report", report: rest };
    default:
      return undefined;
  }
}

function wordOf(line: string): string {
  const cut = line.indexOf(" ");
  return cut < 0 ? line : line.slice(0, cut);
}

function restOf(line: string): string {
  const cut = line.indexOf(" ");
  return cut < 0 ? "" : line.slice(cut + 1);
}
