/** The driver before real Envoys: what each kind of client costs, and that nothing is lost. */
import { describe, expect, test } from "vitest";
import { NATIVE_BUILD } from "../../manager/builds.ts";
import { insideNamespaces, type Stoppable } from "../harness/inside-namespaces.ts";
import { requiredProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { envoyCases, nameOf } from "./cases.ts";
import type { PlayRequest, PlayResult } from "./play-request.ts";
import { shortfalls } from "./verdict.ts";

const INSIDE = new URL("./play-inside.ts", import.meta.url).pathname;

let playing: Promise<PlayResult> | undefined;

/** All cases are played at once, as most of them only wait. */
function played(context: Stoppable): Promise<PlayResult> {
  playing ??= play(context);
  return playing;
}

async function play(context: Stoppable): Promise<PlayResult> {
  const envoys = {
    "1.40": await requiredProgram("envoy-1.40", context),
    "1.36": await requiredProgram("envoy-1.36", context),
  };
  const http3 = await requiredProgram("aioquic", context);
  const grpcio = await requiredProgram("grpcio", context);
  const request: PlayRequest = { envoys, http3, grpcio, native: NATIVE_BUILD.command, only: [] };
  return insideNamespaces<PlayResult>(INSIDE, request, context);
}

describe("a drain of a real Envoy", { timeout: 300_000 }, () => {
  for (const one of envoyCases(NATIVE_BUILD.command !== "")) {
    // Not test.for: it shortens what stands in a title.
    test(`${one.version} (${one.manager} manager) with ${one.scene.says}`, async (context) => {
      const of = (await played(context))[nameOf(one)];
      if (of === undefined) throw new Error("the case was not played");
      if ("error" in of) throw new Error(of.error);
      await recordResult(of.result);
      expect(shortfalls(one.scene, of.result)).toEqual([]);
    });
  }
});
