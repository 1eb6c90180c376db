/** Derives the names in the relay benchmark's cluster from numbers, so that all processes use the same names. */
import type { WithdrawalRequest } from "../src/contract/relay-wire.ts";

export const NAMESPACES = 10;
export const SLICES = 1_500;
export const PODS_PER_SLICE = 100;
export const PODS = SLICES * PODS_PER_SLICE;

const SLICES_PER_SERVICE = 10;

export type SliceIdentity = { readonly namespace: string; readonly service: string; readonly name: string };

export function sliceIdentity(slice: number): SliceIdentity {
  const service = `checkout-${Math.floor(slice / SLICES_PER_SERVICE)}`;
  const suffix = (slice % SLICES_PER_SERVICE) + 10;
  return { namespace: namespaceAt(namespaceOf(slice)), service, name: `${service}-x7k${suffix}` };
}

export function namespaceAt(index: number): string {
  return `team-${index}`;
}

export function namespaceOf(slice: number): number {
  return Math.floor((slice * NAMESPACES) / SLICES);
}

export function sliceOf(pod: number): number {
  return Math.floor(pod / PODS_PER_SLICE);
}

export function requestOf(pod: number): WithdrawalRequest {
  const { namespace, service } = sliceIdentity(sliceOf(pod));
  return { namespace, pod: `${service}-7d9c5b8f64-${formatHex(pod, 5)}`, uid: uidAt(pod), addresses: [addressAt(pod)] };
}

export function addressAt(pod: number): string {
  return `10.${(pod >>> 16) + 1}.${(pod >>> 8) & 255}.${pod & 255}`;
}

export function drainingPods(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => Math.floor((index * PODS) / count));
}

/** Pseudo-random, so that hashes and compression behave as with real UIDs. */
function uidAt(pod: number): string {
  const digits = [1, 2, 3, 4].map((turn) => formatHex(Math.imul(pod * 4 + turn, 0x9e3779b1) ^ (pod << 7), 8)).join("");
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-a$4-$5");
}

function formatHex(value: number, digits: number): string {
  return (value >>> 0).toString(16).padStart(digits, "0").slice(-digits);
}
