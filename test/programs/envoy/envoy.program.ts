/** The driver before real Envoys: what each kind of client costs, and that nothing is lost. */
import { describe, expect, test } from "vitest";
import { NATIVE_BUILD } from "../../manager/builds.ts";
import { insideNamespaces, type Stoppable } from "../harness/inside-namespaces.ts";
import { requiredProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { envoyCases, nameOf } from "./cases.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import { type Played, requiredEnvoys, resultOf } from "./play-lanes.ts";
import { shortfalls } from "./verdict.ts";

const INSIDE = new URL("./play-inside.ts", import.meta.url).pathname;

let playing: Promise<Played<EnvoyResult>> | undefined;

/** All cases are played at once, as most of them only wait. */
async function play(context: Stoppable): Promise<Played<EnvoyResult>> {
  const envoys = await requiredEnvoys(context);
  const http3 = await requiredProgram("aioquic", context);
  const grpcio = await requiredProgram("grpcio", context);
  return insideNamespaces(INSIDE, { envoys, http3, grpcio, native: NATIVE_BUILD.command }, context);
}

describe("a drain of a real Envoy", { timeout: 300_000 }, () => {
  for (const one of envoyCases(NATIVE_BUILD.command !== "")) {
    // Not test.for: it shortens what stands in a title.
    test(`${one.version} (${one.manager} manager) with ${one.scene.says}`, async (context) => {
      playing ??= play(context);
      const result = resultOf(await playing, nameOf(one));
      await recordResult(result);
      expect(shortfalls(one.scene, result)).toEqual([]);
    });
  }
});
