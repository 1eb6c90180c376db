/** Tests that users' text never becomes a reference to a variable of the manager. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatServeFlags, parseServeFlags } from "../../src/contract/serve-flags.ts";
import { serveFlagsOf } from "../../src/injection/manager/container.ts";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { escapeReferences, unescapeReferences } from "../../src/kubernetes/references.ts";
import { anyText } from "../any-text.ts";
import { inject, injectedPodOf } from "./injector-inputs.ts";

const EXPANSION = "EXPANDED";

/** Expands a container's arguments and variables by the kubelet's documented rules. */
function expandReferences(text: string): string {
  let expanded = "";
  for (let at = 0; at < text.length; at += 1) {
    const next = text[at + 1];
    if (text[at] !== "$" || next === undefined) expanded += text[at];
    else if (next === "$") {
      expanded += "$";
      at += 1;
    } else if (next === "(" && text.includes(")", at + 2)) {
      expanded += EXPANSION;
      at = text.indexOf(")", at + 2);
    } else {
      expanded += `$${next}`;
      at += 1;
    }
  }
  return expanded;
}

test("the fake kubelet expands $(NAME) as in the examples of Kubernetes' documentation", () => {
  expect(expandReferences("a $(B) c")).toBe("a EXPANDED c");
  expect(expandReferences("$$(B) $$$(B) $(B")).toBe("$(B) $EXPANDED $(B");
  expect(expandReferences("$a$")).toBe("$a$");
});

const dollars = fc.string({
  unit: fc.constantFrom("$", "(", ")", "A", "$(LASTCALL_RELAY_CREDENTIAL)", "$$(LASTCALL_TOKEN)"),
});

test("any text in an argument of the manager is unchanged after the kubelet's expansion of $(NAME)", () => {
  fc.assert(
    fc.property(fc.oneof(dollars, anyText()), (text) => {
      expect(expandReferences(escapeReferences(text))).toBe(text);
      expect(unescapeReferences(escapeReferences(text))).toBe(text);
    }),
  );
});

type Manager = { readonly args: string[]; readonly env: { readonly name: string; readonly value?: string }[] };

function managerIn(pod: object): Manager {
  const [manager] = (pod as { spec: { initContainers: Manager[] } }).spec.initContainers;
  if (manager === undefined) throw new Error("no manager");
  return manager;
}

const KEYS: readonly string[] = [
  ...["drain-url", "active-url", "driver-url", "drain-ports", "ignore-ports", "containers", "resources", "drain-delay"],
  ...["drained-when", "driver", "prestop", "mode", "profile", "port", "status", "inject"],
];

const beforeDollars = fc.constantFrom("http://127.0.0.1:80/", "http://[::1]/#", "unix:/run/", "80,", "app,", "");
const annotations = fc.dictionary(
  fc.constantFrom(...KEYS.map((key) => `lastcall.dev/${key}`), "traffic.sidecar.istio.io/excludeInboundPorts"),
  fc.tuple(beforeDollars, dollars).map(([before, text]) => before + text),
);
const execHook = fc.record({
  exec: fc.record({ command: fc.array(dollars, { maxLength: 2 }) }),
});
const httpHook = dollars.map((path) => ({
  httpGet: { port: 80, path: `/${path}`, httpHeaders: [{ name: "a", value: path }] },
}));

test("no annotation value or hook is expanded in the manager's arguments and variables", () => {
  let dollarTextCount = 0;
  fc.assert(
    fc.property(annotations, fc.oneof(execHook, httpHook), (values, preStop) => {
      const allAnnotations = { "sidecar.istio.io/inject": "true", ...values };
      const containers = [
        { name: "app", image: "x", lifecycle: { preStop } },
        { name: "b", image: "x" },
      ];
      const pod = { metadata: { annotations: allAnnotations }, spec: { containers } };
      const outcome = inject(pod);
      if (outcome.kind !== "patched" || outcome.mode === "sleep") return;
      const { args, env } = managerIn(outcome.pod);
      for (const text of [...args, ...env.map((entry) => entry.value ?? "")]) {
        if (text.includes("$")) dollarTextCount += 1;
        expect(expandReferences(text)).not.toContain(EXPANSION);
      }
      const settings = parseServeFlags(args.slice(1).map(expandReferences));
      expect(settings.problems).toEqual([]);
      const { drainUrl, activeUrl } = outcome.explanation.policy;
      expect(settings.settings).toMatchObject({ drainUrl, activeUrl });
      expect(formatServeFlags(settings.settings)).toEqual(serveFlagsOf(managerIn(outcome.pod)));
      expect(inject(outcome.pod)).toMatchObject({ reason: "up_to_date" });
      expect(uninjectPod(outcome.pod)).toEqual({ kind: "uninjected", pod });
    }),
    { numRuns: 1_000 },
  );
  expect(dollarTextCount).toBeGreaterThan(100);
});

test("a drain URL with a reference to the relay's credential is passed literally", () => {
  const url = "http://127.0.0.1:8080/$(LASTCALL_RELAY_CREDENTIAL)";
  const pod = { metadata: { annotations: { "lastcall.dev/drain-url": url } } };
  const { args } = managerIn(injectedPodOf({ ...pod, spec: { containers: [{ name: "app", image: "x" }] } }));
  expect(args).toContain("--drain-url=http://127.0.0.1:8080/$$(LASTCALL_RELAY_CREDENTIAL)");
});
