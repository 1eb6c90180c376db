/** Every suite of the project, and its part in `.ci/run`. */
import { NEWEST_MINOR } from "../../e2e/build/module-table.ts";

export type Step = {
  readonly name: string;
  /** Arguments of `npm run`. */
  readonly words: readonly string[];
  /** The shorter command of a landing, if the complete suite takes too long. */
  readonly landing?: readonly string[];
};

/** Rollouts of real servers, and each of their drivers; the whole suite repeats them by protocol, version and criterion. */
const PROGRAMS = ["http2.program", "rollouts"];
/** Cases whose failure means lost requests or admissions: rollouts, hooks, the relay, the webhook's lifecycle. */
const CASES = ["serving", "rollout", "own-hooks", "opt-in", "webhook-outages", "relay.e2e"];

export const STEPS: readonly Step[] = [
  { name: "tests", words: ["test"] },
  { name: "processes", words: ["test:processes"], landing: ["test:processes:landing"] },
  { name: "checks", words: ["check"] },
  { name: "sanitizer", words: ["test:sanitize"], landing: ["test:sanitize", "--", "--seconds=30"] },
  { name: "sanitized process cases", words: ["test:sanitize", "--", "--only=cases"] },
  { name: "programs", words: ["test:programs"], landing: ["test:programs", "--", ...PROGRAMS] },
  // Its API server is one of the cluster's programs, which are built by then.
  { name: "chart", words: ["test:chart"] },
  { name: "end to end", words: ["e2e", "--", "--install"], landing: ["e2e", "--", "--install", "--", ...CASES] },
];

/** Starts with the first step, at the lowest priority, and is complete before the last two steps, which need it. */
export const AHEAD: Step = {
  name: "the cluster's programs",
  words: ["cluster", "--", "build", `kubernetes-${NEWEST_MINOR}`, "etcd", "pause", "helm"],
};

export type Asked = { readonly landing: boolean; readonly steps: readonly Step[] };

/** @returns the steps, or a message for invalid arguments */
export function readAsked(words: readonly string[]): Asked | { readonly message: string } {
  const landing = words.includes("--landing");
  const names = words.filter((word) => word !== "--landing");
  const unknown = names.find((name) => !STEPS.some((step) => step.name === name));
  if (unknown !== undefined) {
    return { message: `There is no step "${unknown}". Steps: ${STEPS.map(({ name }) => `"${name}"`).join(", ")}.` };
  }
  return { landing, steps: STEPS.filter(({ name }) => names.length === 0 || names.includes(name)) };
}

export function wordsOf({ words, landing }: Step, asked: Asked): readonly string[] {
  return asked.landing ? (landing ?? words) : words;
}
