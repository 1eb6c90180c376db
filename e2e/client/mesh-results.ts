/** Defines the measurements of rollouts in a mesh. */
import type { ProxyKind } from "./mesh-app.ts";
import { resultsFile } from "./results-file.ts";

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

export const meshResults = resultsFile<MeshResult>("mesh.json", ({ proxy, ending }) => `${proxy}, ${ending}`);
