/** Lists every suite of the project, and the shorter suites of `.ci/run`. */
import { NEWEST_MINOR } from "../../e2e/build/module-table.ts";

export type Step = {
  readonly name: string;
  /** Arguments of `npm run`. */
  readonly npmRun: readonly string[];
  /** Arguments of `npm run` with `--landing`; undefined for suites that are fast enough to run completely before a merge. */
  readonly landingRun?: readonly string[];
};

/** Test files with rollouts of real servers and with each driver. Other files cover more protocols, versions and criteria. */
const LANDING_PROGRAMS = ["http2.program", "rollouts"];
/** Cases that detect lost requests or admissions: rollouts, hooks, the relay, the webhook's lifecycle. */
const LANDING_CASES = ["serving", "rollout", "own-hooks", "opt-in", "webhook-outages", "relay.e2e"];
/** A real gateway with lastcall, and without any hook, which shows that its load notices lost requests. */
const LANDING_GATEWAY = ["contour", "-t", "ended by (lastcall|neither)"];

export const STEPS: readonly Step[] = [
  { name: "tests", npmRun: ["test"] },
  { name: "processes", npmRun: ["test:processes"], landingRun: ["test:processes:landing"] },
  { name: "checks", npmRun: ["check"] },
  { name: "sanitizer", npmRun: ["test:sanitize"], landingRun: ["test:sanitize", "--", "--seconds=30"] },
  { name: "sanitized process cases", npmRun: ["test:sanitize", "--", "--only=cases"] },
  { name: "programs", npmRun: ["test:programs"], landingRun: ["test:programs", "--", ...LANDING_PROGRAMS] },
  // Uses the API server that EARLY_BUILD builds.
  { name: "chart", npmRun: ["test:chart"] },
  {
    name: "end to end",
    npmRun: ["e2e", "--", "--install"],
    landingRun: ["e2e", "--", "--install", "--", ...LANDING_CASES],
  },
  {
    name: "other projects",
    npmRun: ["e2e", "--", "--install", "--others"],
    landingRun: ["e2e", "--", "--install", "--others", "--load", "http1-short", "--", ...LANDING_GATEWAY],
  },
];

/** Builds the programs of the last three steps while the earlier steps run, at low priority. The last step waits for this build. */
export const EARLY_BUILD: Step = {
  name: "the cluster's programs",
  npmRun: ["cluster", "--", "build", `kubernetes-${NEWEST_MINOR}`, "etcd", "pause", "helm", "coredns", "contour"],
};

export type Selection = { readonly isLanding: boolean; readonly steps: readonly Step[] };

/** @returns the steps, or a message for invalid arguments */
export function readSelection(args: readonly string[]): Selection | { readonly message: string } {
  const isLanding = args.includes("--landing");
  const names = args.filter((arg) => arg !== "--landing");
  const unknownName = names.find((name) => !STEPS.some((step) => step.name === name));
  if (unknownName !== undefined) {
    return { message: `There is no step "${unknownName}". Steps: ${STEPS.map(({ name }) => `"${name}"`).join(", ")}.` };
  }
  return { isLanding, steps: STEPS.filter(({ name }) => names.length === 0 || names.includes(name)) };
}

export function npmArguments({ npmRun, landingRun: landing }: Step, selection: Selection): readonly string[] {
  return selection.isLanding ? (landing ?? npmRun) : npmRun;
}
