/** Which scene is played before which Envoy with which build of the manager. Pure. */
import type { EnvoyResult } from "./envoy-result.ts";
import type { Scene } from "./scene.ts";
import { SCENES } from "./scenes.ts";

export const VERSIONS = ["1.40", "1.36"] as const;

export type EnvoyCase = {
  readonly scene: Scene;
  readonly version: (typeof VERSIONS)[number];
  readonly manager: EnvoyResult["manager"];
};

/** @param native whether this host can build that one; on Node everything is played otherwise */
export function envoyCases(native: boolean): readonly EnvoyCase[] {
  const manager = native ? "native" : "node";
  const all = VERSIONS.flatMap((version) => SCENES.map((scene): EnvoyCase => ({ scene, version, manager })));
  const onNode = SCENES.filter((scene) => native && scene.onNodeToo === true).map(
    (scene): EnvoyCase => ({ scene, version: VERSIONS[0], manager: "node" }),
  );
  return [...all, ...onNode];
}

export function nameOf({ scene, version, manager }: EnvoyCase): string {
  return `${scene.key}-${version.replace(".", "-")}-${manager}`;
}
