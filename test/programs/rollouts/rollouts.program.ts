/** 20 rollouts under load, all protocols at once; `npm run bench:rollouts` plays 20 of each protocol. */
import { describe, expect, test } from "vitest";
import { requiredProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { ENVOY, playScene } from "./play-scene.ts";
import { sceneName, TEST_SCENES } from "./rollout-scenes.ts";

describe("rolled again and again at 500 requests a second, a Deployment", () => {
  for (const scene of TEST_SCENES) {
    const what = scene.promised ? "loses none" : "loses what its clients do not leave in time";
    test(`${what}: ${sceneName(scene)}`, { timeout: 300_000 }, async (context) => {
      const envoy = scene.driver === "envoy" ? await requiredProgram(ENVOY, context) : undefined;
      const { line, failures } = await playScene(scene, envoy, context);
      await recordResult(line);
      expect(failures).toEqual([]);
    });
  }
});
