/** Reference tables of what people write and what Pods get: annotations, profiles, resources, Events, lint rules. */
import { planResources } from "../injection/resources/manager-resources.ts";
import { qosClass } from "../kubernetes/qos.ts";
import { objectAt, type RawObject, valueAt } from "../kubernetes/raw-json.ts";
import { RULES } from "../lint/lint.ts";
import { STOP_SIGNALS } from "../lint/stop-signals.ts";
import { ANNOTATIONS, FIELDS, fallbackText, PREFIX } from "../policy/fields.ts";
import { PROBLEMS, type ProblemCode } from "../policy/problem.ts";
import { SHIPPED_PROFILES } from "../policy/shipped-profiles.ts";
import { DRAIN_EVENTS } from "../relay/drains/drains-route.ts";
import { eventReasonOf, NOT_INJECTED, WITHOUT_EVENT } from "../webhook/cluster/admission-events.ts";
import { code, markdownTable } from "./markdown-table.ts";

/** A table, and a heading for each rule so that an address can end with it. */
export function lintRuleReference(): string {
  const rows = RULES.map(({ id, level, title }) => [`[${code(id)}](#${id})`, level, title]);
  const parts = RULES.map(({ id, title, why, remedy }) => `## ${id}\n\n${title}. ${why}\n\n${remedy}`);
  return [markdownTable(["rule", "level", "finds"], rows), ...parts].join("\n\n");
}

export function stopSignalReference(): string {
  const rows = STOP_SIGNALS.map(({ images, program, graceful, since }) => [
    images.map(code).join(", "),
    program,
    graceful ?? "none",
    since,
  ]);
  return markdownTable(["images", "program", "graceful signal", "which images name it"], rows);
}

/** One row per annotation, in the table's order. */
export function annotationReference(): string {
  const rows = FIELDS.map((field) => {
    const { name, codec, summary } = ANNOTATIONS[field];
    return [code(PREFIX + name), codec.shows, fallbackText(field), summary];
  });
  return markdownTable(["annotation", "values", "default", "what it does"], rows);
}

/** The profiles that ship: what each is for, its values, and why these. */
export function profileReference(): string {
  const rows = Object.entries(SHIPPED_PROFILES).map(([name, { purpose, values, reason }]) => [
    code(name),
    purpose,
    Object.entries(values)
      .map(([value, text]) => code(`${value}: ${text}`))
      .join(", "),
    reason,
  ]);
  return markdownTable(["profile", "for", "values", "why"], rows);
}

type Asks = { readonly requests?: RawObject; readonly limits?: RawObject };

const HALF = { cpu: "500m", memory: "512Mi" };
const WHOLE = { cpu: "1", memory: "1Gi" };

const pod = (resources: Asks, whole?: Asks): RawObject => ({
  spec: { containers: [{ name: "app", resources }], ...(whole === undefined ? {} : { resources: whole }) },
});

const ROWS: readonly { readonly says: string; readonly pod: RawObject }[] = [
  { says: "ask for nothing", pod: pod({}) },
  { says: "request memory", pod: pod({ requests: { memory: HALF.memory } }) },
  { says: "request CPU and memory", pod: pod({ requests: HALF }) },
  { says: "request both, and limit memory", pod: pod({ requests: HALF, limits: { memory: WHOLE.memory } }) },
  { says: "request both, and limit more of both", pod: pod({ requests: HALF, limits: WHOLE }) },
  { says: "limit both to what they request", pod: pod({ requests: HALF, limits: HALF }) },
  { says: "ask for nothing, in a Pod that requests and limits both", pod: pod({}, { requests: HALF, limits: WHOLE }) },
  { says: "request all that the Pod as a whole requests", pod: pod({ requests: HALF }, { requests: HALF }) },
];

/** The manager's resources in Pods of each kind, by the plan that injection makes. The mode does not matter: a native sidecar and a container ask for the same. */
export function resourcesReference(): string {
  const rows = ROWS.map(({ says, pod: example }) => {
    const { resources } = planResources(example, "auto");
    const amount = (list: string, name: string): string => String(valueAt(objectAt(resources, list), name) ?? "–");
    return [
      says,
      qosClass(example),
      ...["requests", "limits"].flatMap((list) => [amount(list, "cpu"), amount(list, "memory")]),
    ];
  });
  return markdownTable(
    ["the Pod's containers", "class", "CPU request", "memory request", "CPU limit", "memory limit"],
    rows,
  );
}

const DRAINS: Readonly<Record<keyof typeof DRAIN_EVENTS, string>> = {
  drained: "the traffic of a Pod was gone, and the Pod was released",
  blind: "the manager could not see whether the traffic of a Pod was gone, and released it; the message says why",
  timeout: "the drain of a Pod ended at its deadline; the message names who stayed connected",
  forced: "the manager was told to stop before the drain of its Pod had ended",
  lost: "the manager of a Pod died in the middle of the drain; the message has the exit code",
};

/** Every Kubernetes Event that lastcall writes. */
export function eventReference(): string {
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((problem) => !WITHOUT_EVENT.includes(problem));
  const drains = (Object.keys(DRAINS) as (keyof typeof DRAINS)[]).map((outcome) => {
    const { reason, type } = DRAIN_EVENTS[outcome];
    return [code(reason), type, DRAINS[outcome]];
  });
  return markdownTable(
    ["reason", "type", "when"],
    [
      [code(NOT_INJECTED), "Warning", "a Pod asked for injection and was left alone; the message gives the reason"],
      ...codes.map((problem) => [code(eventReasonOf(problem)), "Warning", PROBLEMS[problem]]),
      ...drains,
    ],
  );
}
