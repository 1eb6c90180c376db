/** Cores and bytes to the text Kubernetes reads, and to the whole units it keeps. */
import type { ComputeResource } from "../kubernetes/qos.ts";

const MEBIBYTE = 2 ** 20;

/** In the units people use; exact for whole millicores and bytes. */
export function written(name: ComputeResource, value: number): string {
  if (name === "cpu") {
    const millicores = Math.ceil(value * 1_000 - 1e-6);
    return millicores % 1_000 === 0 ? String(millicores / 1_000) : `${millicores}m`;
  }
  const bytes = Math.ceil(value - 1e-6);
  return bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE}Mi` : String(bytes);
}

function unitOf(name: ComputeResource): number {
  return name === "cpu" ? 0.001 : 1;
}

export function roundUp(name: ComputeResource, value: number): number {
  return Math.ceil(value / unitOf(name) - 1e-6) * unitOf(name);
}

export function roundDown(name: ComputeResource, value: number): number {
  return Math.floor(value / unitOf(name) + 1e-6) * unitOf(name);
}
