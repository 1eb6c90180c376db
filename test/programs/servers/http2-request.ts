/** What the HTTP/2 cases ask for in namespaces, and what comes of it: plain JSON. */
import type { PodEndFacts } from "../harness/pod-end-facts.ts";

export type Http2Request = {
  /** By the name of the server, Deployments whose Pods are ended one by one. */
  readonly deployments: Readonly<Record<string, object>>;
};

/** What the client asked for, one after the other and with pauses, before it fell silent and stayed. */
export const QUESTIONS = { first: ["/"], later: ["/", "/"], large: ["/", "/large"] } as const;
export type Questions = keyof typeof QUESTIONS;

export type Http2Result = {
  readonly manager: "native" | "node";
  readonly ends: Readonly<Record<string, Readonly<Record<Questions, PodEndFacts>>>>;
};
