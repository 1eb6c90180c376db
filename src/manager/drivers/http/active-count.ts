/**
 * Reads how many requests are active from what an app answered. Pure. A number is a count only when it is certainly
 * one; everything else is -1, because unknown is never zero.
 */
import { depthOf } from "../../json-depth.ts";
import { isRecord } from "../../json-record.ts";
import { sumOfSamples } from "../metric-samples.ts";

/**
 * @param selector what stood after `#`: empty for a plain number, `/a/b` for a JSON pointer (RFC 6901), otherwise the
 * name of a Prometheus sample, with labels if wanted: `name{label="x"}`. Several samples that fit are added up.
 * @returns whole requests, rounded up, or -1 when unknown
 */
export function parseActiveCount(body: string, selector: string): number {
  if (selector === "") return countOf(body.trim());
  if (selector.startsWith("/")) return numberAt(body, selector);
  return wholeCount(sumOfSamples(body, selector));
}

const COUNT = /^\+?[0-9]{1,15}(\.[0-9]{1,15})?([eE]\+?[0-9]{1,2})?$/;

function countOf(text: string): number {
  return COUNT.test(text) ? wholeCount(Number(text)) : -1;
}

function wholeCount(value: number): number {
  return Number.isFinite(value) && value >= 0 ? Math.ceil(value) : -1;
}

/** Deeper than any report of a server. */
const DEPTH_LIMIT = 64;

function numberAt(body: string, pointer: string): number {
  if (depthOf(body) > DEPTH_LIMIT) return -1;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return -1;
  }
  for (const part of pointer.slice(1).split("/")) {
    value = childOf(value, part.split("~1").join("/").split("~0").join("~"));
  }
  if (typeof value === "number") return wholeCount(value);
  return typeof value === "string" ? countOf(value) : -1;
}

function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return /^(0|[1-9][0-9]{0,8})$/.test(key) ? items[Number(key)] : undefined;
  }
  return isRecord(value) ? value[key] : undefined;
}
