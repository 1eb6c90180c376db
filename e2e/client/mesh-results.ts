/** Records the rollouts in a mesh in build/e2e/mesh.json, from which `npm run table:gateways` writes the table of Istio's guide. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProxyKind } from "./mesh-app.ts";

export const MESH_ENDINGS = ["no hook", "preStop: sleep 5", "lastcall"] as const;
export type MeshEnding = (typeof MESH_ENDINGS)[number];

export type MeshResult = {
  readonly versions: string;
  readonly date: string;
  readonly proxy: ProxyKind;
  readonly ending: MeshEnding;
  readonly requests: number;
  readonly failed: number;
  /** From the start of the rollout to the deletion of its last old Pod. */
  readonly seconds: number;
};

const MESH_RESULTS = join(import.meta.dirname, "../../build/e2e/mesh.json");

export function readMeshResults(): readonly MeshResult[] {
  return existsSync(MESH_RESULTS) ? JSON.parse(readFileSync(MESH_RESULTS, "utf8")) : [];
}

/** Replaces the earlier result of the same proxy and ending. */
export function recordMeshResult(result: MeshResult): void {
  const isSame = ({ proxy, ending }: MeshResult) => proxy === result.proxy && ending === result.ending;
  const results = [...readMeshResults().filter((other) => !isSame(other)), result];
  mkdirSync(dirname(MESH_RESULTS), { recursive: true });
  writeFileSync(MESH_RESULTS, `${JSON.stringify(results, null, 1)}\n`);
}
