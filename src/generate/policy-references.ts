/** Renders the reference tables of annotations, profiles, resources, Events and lint rules. */

import { SHUTDOWN_MANAGERS } from "../injection/hooks/known-hooks.ts";
import { STOP_SIGNALS } from "../injection/hooks/stop-signals.ts";
import { planResources } from "../injection/resources/manager-resources.ts";
import { qosClassOf } from "../kubernetes/qos.ts";
import { objectAt, type RawObject, valueAt } from "../kubernetes/raw-json.ts";
import { RULES } from "../lint/lint.ts";
import { ANNOTATIONS, FIELDS, fallbackText, PREFIX } from "../policy/fields.ts";
import { PROBLEMS, type ProblemCode } from "../policy/problem.ts";
import { SHIPPED_PROFILES } from "../policy/shipped-profiles.ts";
import { DRAIN_EVENTS, RESETS_EVENT, RUNNING_EVENT } from "../relay/drains/drains-route.ts";
import { CODES_WITHOUT_EVENT, eventReasonOf, NOT_INJECTED } from "../webhook/cluster/admission-events.ts";
import { code, markdownTable } from "./markdown-table.ts";

export function lintRuleReference(): string {
  const rows = RULES.map(({ id, level, title }) => [`[${code(id)}](#${id})`, level, title]);
  const parts = RULES.map(({ id, title, why, remedy }) => `## ${id}\n\n${title}. ${why}\n\n${remedy}`);
  return [markdownTable(["rule", "level", "finds"], rows), ...parts].join("\n\n");
}

export function stopSignalReference(): string {
  const rows = STOP_SIGNALS.map(({ images, program, gracefulSignal, note }) => [
    images.map(code).join(", "),
    program,
    gracefulSignal ?? "none",
    note,
  ]);
  return markdownTable(["images", "program", "graceful signal", "set by the image"], rows);
}

export function ownHookReference(): string {
  const managers = SHUTDOWN_MANAGERS.map(({ program, hooks, needsEnvoyDriver, reason }) => [
    `${hooks.map(code).join(", ")} of ${program}`,
    needsEnvoyDriver ? "the driver is `envoy`" : "always",
    reason,
  ]);
  const rows = [
    [
      '`sleep: {seconds: N}`, `sleep N`, `sh -c "sleep N || true"`',
      "always",
      "The drain delay is at least as long as the sleep.",
    ],
    [
      "`nginx -s quit`, `openresty -s quit`, `kong quit`, `apachectl -k graceful-stop`, `kill -QUIT 1`, also after `sleep N;`",
      "the command sends the container's stop signal",
      "The kubelet sends the same signal after the drain. The stop signal is `lifecycle.stopSignal`, or the signal of a [known image](lint-rules.md#stop-signals-of-images).",
    ],
    ...managers,
  ];
  return markdownTable(["the container's own hook", "replaced if", "why"], rows);
}

export function annotationReference(): string {
  const rows = FIELDS.map((field) => {
    const { name, codec, summary } = ANNOTATIONS[field];
    return [code(PREFIX + name), codec.syntax, fallbackText(field), summary];
  });
  return markdownTable(["annotation", "values", "default", "what it does"], rows);
}

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

type Resources = { readonly requests?: RawObject; readonly limits?: RawObject };

const SMALL_AMOUNTS = { cpu: "500m", memory: "512Mi" };
const LARGE_AMOUNTS = { cpu: "1", memory: "1Gi" };

const createExamplePod = (resources: Resources, podResources?: Resources): RawObject => ({
  spec: {
    containers: [{ name: "app", resources }],
    ...(podResources === undefined ? {} : { resources: podResources }),
  },
});

const RESOURCE_EXAMPLES: readonly { readonly title: string; readonly pod: RawObject }[] = [
  { title: "set no resources", pod: createExamplePod({}) },
  { title: "request memory", pod: createExamplePod({ requests: { memory: SMALL_AMOUNTS.memory } }) },
  { title: "request CPU and memory", pod: createExamplePod({ requests: SMALL_AMOUNTS }) },
  {
    title: "request CPU and memory, and limit memory",
    pod: createExamplePod({ requests: SMALL_AMOUNTS, limits: { memory: LARGE_AMOUNTS.memory } }),
  },
  {
    title: "request CPU and memory, with larger limits of both",
    pod: createExamplePod({ requests: SMALL_AMOUNTS, limits: LARGE_AMOUNTS }),
  },
  {
    title: "request CPU and memory, with equal limits",
    pod: createExamplePod({ requests: SMALL_AMOUNTS, limits: SMALL_AMOUNTS }),
  },
  {
    title: "set no resources, in a Pod with pod-level requests and limits of CPU and memory",
    pod: createExamplePod({}, { requests: SMALL_AMOUNTS, limits: LARGE_AMOUNTS }),
  },
  {
    title: "request as much CPU and memory as the pod-level request",
    pod: createExamplePod({ requests: SMALL_AMOUNTS }, { requests: SMALL_AMOUNTS }),
  },
];

/** Native sidecars and classic containers get the same resources. */
export function resourcesReference(): string {
  const rows = RESOURCE_EXAMPLES.map(({ title, pod: example }) => {
    const { resources } = planResources(example, "auto");
    const amountOf = (list: string, name: string): string => String(valueAt(objectAt(resources, list), name) ?? "–");
    return [
      title,
      qosClassOf(example),
      ...["requests", "limits"].flatMap((list) => [amountOf(list, "cpu"), amountOf(list, "memory")]),
    ];
  });
  return markdownTable(
    ["the Pod's containers", "class", "CPU request", "memory request", "CPU limit", "memory limit"],
    rows,
  );
}

const DRAIN_MEANINGS: Readonly<Record<keyof typeof DRAIN_EVENTS, string>> = {
  drained: "the drain of a Pod ended with the end of its traffic",
  "handed-over":
    "the drain of a Pod ended while only clients that keep sending requests on open connections were left; the message names them",
  blind: "the drain of a Pod ended, and the manager could not observe the Pod's traffic; the message has the reason",
  timeout: "the drain of a Pod ended at its deadline; the message names the remaining connections",
  forced: "the manager was stopped before the drain of its Pod ended",
  lost: "the manager of a Pod exited during the drain; the message has the exit code",
};

const RUNNING_MEANING =
  "the drain of a Pod takes longer than 10 s; the message names the clients that it waits for, and the time until its deadline. This Event is on the Pod; all other Events about drains are on the Pod's owner";

const RESETS_MEANING =
  "connections were reset or refused when a Pod stopped after its drain; the message has the maximum number of these connections";

export function eventReference(): string {
  const problemCodes = (Object.keys(PROBLEMS) as ProblemCode[]).filter(
    (problem) => !CODES_WITHOUT_EVENT.includes(problem),
  );
  const drainRows = (Object.keys(DRAIN_MEANINGS) as (keyof typeof DRAIN_MEANINGS)[]).map((outcome) => {
    const { reason, type } = DRAIN_EVENTS[outcome];
    return [code(reason), type, DRAIN_MEANINGS[outcome]];
  });
  return markdownTable(
    ["reason", "type", "when"],
    [
      [code(NOT_INJECTED), "Warning", "a Pod that requests injection was not injected; the message has the reason"],
      ...problemCodes.map((problem) => [code(eventReasonOf(problem)), "Warning", PROBLEMS[problem]]),
      ...drainRows,
      [code(RUNNING_EVENT.reason), RUNNING_EVENT.type, RUNNING_MEANING],
      [code(RESETS_EVENT.reason), RESETS_EVENT.type, RESETS_MEANING],
    ],
  );
}
