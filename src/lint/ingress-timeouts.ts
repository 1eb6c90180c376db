/** Annotations by which ingress controllers are told how long to wait. */
import type { RawObject } from "../kubernetes/raw-json.ts";

export type IngressTimeout = {
  readonly annotation: string;
  readonly seconds: number;
  readonly value: unknown;
  /** The sentence up to the number. */
  readonly waits: string;
};

type TimeoutFact = {
  readonly annotation: string;
  readonly read: (text: string) => number | undefined;
  readonly waits: string;
};

const FOR_ANSWERS = "The ingress waits for an answer for";

const TIMEOUTS: readonly TimeoutFact[] = [
  { annotation: "nginx.ingress.kubernetes.io/proxy-read-timeout", read: wholeSeconds, waits: FOR_ANSWERS },
  { annotation: "nginx.org/proxy-read-timeout", read: duration, waits: FOR_ANSWERS },
  { annotation: "haproxy.org/timeout-server", read: duration, waits: FOR_ANSWERS },
  { annotation: "haproxy-ingress.github.io/timeout-server", read: duration, waits: FOR_ANSWERS },
  { annotation: "projectcontour.io/response-timeout", read: duration, waits: FOR_ANSWERS },
  {
    annotation: "alb.ingress.kubernetes.io/target-group-attributes",
    read: (text) => attribute(text, "deregistration_delay.timeout_seconds"),
    waits: "The load balancer lets the requests of a deregistered Pod run for",
  },
];

export function ingressTimeouts(annotations: RawObject): readonly IngressTimeout[] {
  return TIMEOUTS.flatMap(({ annotation, read, waits }) => {
    const value = annotations[annotation];
    const seconds = typeof value === "string" ? read(value) : undefined;
    return seconds === undefined ? [] : [{ annotation, seconds, value, waits }];
  });
}

function wholeSeconds(text: string): number | undefined {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };

function duration(text: string): number | undefined {
  const [, digits, unit] = /^([0-9]{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return digits === undefined || unit === undefined ? undefined : Number(digits) * (UNIT_SECONDS[unit] ?? 1);
}

/** `a=1,b=2` */
function attribute(text: string, name: string): number | undefined {
  const pair = text.split(",").find((part) => part.trim().startsWith(`${name}=`));
  return pair === undefined ? undefined : wholeSeconds(pair.trim().slice(name.length + 1));
}
