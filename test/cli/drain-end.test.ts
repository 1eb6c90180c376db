/** Compares the drain end that `explain` prints with the manager's behaviour for the flags that `inject` writes. */
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { isDriverUsed, withoutDriver } from "../../src/contract/criterion.ts";
import type { DrainedWhen, DrainSettings } from "../../src/contract/drain-settings.ts";
import { DRIVERS } from "../../src/contract/driver-table.ts";
import { MANAGER_CONTAINER } from "../../src/contract/manager-environment.ts";
import { parseServeFlags } from "../../src/contract/serve-flags.ts";
import { hook, ownHook, type PodAt, play, QUIET } from "../manager/drain-script.ts";
import { lastcall } from "./run-lastcall.ts";

const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: b\n";
const CRITERIA: readonly DrainedWhen[] = ["auto", "quiet", "connections", "requests", "deadline"];
const URLS: readonly (readonly string[])[] = [[], ["--active-url=http://127.0.0.1/active"]];

/** In each situation exactly one condition for the end of the drain is true. */
const SITUATIONS: Readonly<Record<string, { readonly pod: PodAt; readonly active: number }>> = {
  "when traffic has been absent": { pod: () => ({ ...QUIET, openConnections: 1 }), active: 1 },
  "when no connection is open": { pod: (nowMs) => ({ ...QUIET, lastEvidenceMs: nowMs }), active: 1 },
  "when the driver has counted": {
    pod: (nowMs) => ({ ...QUIET, openConnections: 1, activity: "busy", lastEvidenceMs: nowMs }),
    active: 0,
  },
};
const DEADLINE_TEXT = "only at the deadline";

async function readSettings(flags: readonly string[]): Promise<DrainSettings> {
  const { out } = await lastcall(["inject", ...flags], { "-": POD });
  const pod = parseAllDocuments(out)[0]?.toJS();
  const manager = pod.spec.initContainers.find(({ name }: { name: string }) => name === MANAGER_CONTAINER);
  const { settings, problems } = parseServeFlags(manager.args.slice(1));
  expect(problems).toEqual([]);
  return isDriverUsed(settings) ? settings : withoutDriver(settings);
}

/** The conditions under which the manager ends the drain before its deadline. */
function endConditionsOf(settings: DrainSettings): readonly string[] {
  const metConditions = Object.entries(SITUATIONS).filter(([, { pod, active }]) => {
    const { summary, answerTimesMs } = play({
      settings,
      events: [hook(1_000, 1), ownHook(1_000, 2)],
      pod,
      active: () => active,
    });
    return (answerTimesMs.get(1) ?? summary.deadlineMs) < summary.deadlineMs;
  });
  return metConditions.length === 0 ? [DEADLINE_TEXT] : metConditions.map(([condition]) => condition);
}

describe.each(DRIVERS.map(({ name }) => name))("with the driver %s", (driver) => {
  test.for(
    CRITERIA.flatMap((drainedWhen) =>
      URLS.map((urls) => ({
        drainedWhen,
        urls,
        situation: `\`drained-when: ${drainedWhen}\` ${urls.length === 0 ? "without" : "with"} an active-url`,
      })),
    ),
  )("explain prints the end condition that the manager uses for $situation", async ({ drainedWhen, urls }) => {
    const flags = [`--driver=${driver}`, `--drained-when=${drainedWhen}`, ...urls];
    const { out } = await lastcall(["explain", ...flags], { "-": POD });
    const [, printed = ""] = /earliest end of the drain: (.*); then/.exec(out) ?? [];
    expect(endConditionsOf(await readSettings(flags))).toEqual([
      expect.toSatisfy((condition) => printed.startsWith(condition)),
    ]);
  });
});
