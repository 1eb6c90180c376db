/** Every suite of the project, and what of it a landing takes. */
import { NEWEST } from "../../e2e/build/module-table.ts";

export type Step = {
  readonly name: string;
  /** Of `npm run`. */
  readonly words: readonly string[];
  /** What a landing runs instead, where the whole would take too long. */
  readonly landing?: readonly string[];
};

/** Rollouts of real servers, and each of their drivers; the whole suite repeats them by protocol, version and criterion. */
const PROGRAMS = ["http2.program", "rollouts"];
/** What loses requests or admissions when it breaks: rollouts, hooks, the relay, the webhook's life. */
const CASES = ["serving", "rollout", "own-hooks", "who-is-injected", "webhook-life", "relay.e2e"];

export const STEPS: readonly Step[] = [
  { name: "tests", words: ["test"] },
  { name: "processes", words: ["test:processes"], landing: ["test:processes:landing"] },
  { name: "checks", words: ["check"] },
  { name: "sanitizer", words: ["test:sanitize"], landing: ["test:sanitize", "--", "--seconds=30"] },
  { name: "sanitized process cases", words: ["test:sanitize", "--", "--only=cases"] },
  { name: "programs", words: ["test:programs"], landing: ["test:programs", "--", ...PROGRAMS] },
  // Its API server is one of the cluster's programs, which are built by now.
  { name: "chart", words: ["test:chart"] },
  { name: "end to end", words: ["e2e", "--", "--install"], landing: ["e2e", "--", "--install", "--", ...CASES] },
];

/** Begun with the first step, at the lowest priority: the last two steps find it done. Nothing else needs it. */
export const AHEAD: Step = {
  name: "the cluster's programs",
  words: ["cluster", "--", "build", `kubernetes-${NEWEST}`, "etcd", "pause", "helm"],
};

export type Asked = { readonly landing: boolean; readonly steps: readonly Step[] };

/** @returns what is wrong with the words, where something is */
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
