/** What the manager asks for in Pods of each kind, asked of the plan that injection makes. */
import { planResources } from "../injection/resources/manager-resources.ts";
import { qosClass } from "../kubernetes/qos.ts";
import { objectAt, type RawObject, valueAt } from "../kubernetes/raw-json.ts";
import { markdownTable } from "./markdown-table.ts";

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

/** The mode does not matter: a native sidecar and a container ask for the same. */
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
