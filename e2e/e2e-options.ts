/** Parses the arguments of `npm run e2e --`. */
import { parseArgs } from "node:util";
import { KUBERNETES_VERSIONS } from "./build/module-table.ts";
import { type ClusterSettings, PROXY_MODES } from "./cluster/record.ts";
import { readClusterSettings } from "./command-line.ts";
import { isLoadKind, LOAD_KINDS, type LoadKind } from "./programs/gateway-load-kinds.ts";

export const E2E_USAGE = `usage: npm run e2e -- [--kubernetes ${Object.keys(KUBERNETES_VERSIONS).join("|")}] [--proxy-mode ${PROXY_MODES.join("|")}] [--install] [-- ARGUMENTS OF VITEST]
       npm run e2e -- --bench [--kubernetes …] [-- ARGUMENTS OF VITEST]
       npm run e2e -- --others [--load KIND]… [--kubernetes …] [-- ARGUMENTS OF VITEST]
       npm run e2e -- --harness
       npm run e2e -- --context NAME --registry REGISTRY [--tag TAG] [-- ARGUMENTS OF VITEST]

--bench runs the measurements and prints their results. --others runs cases beside programs of other projects, built or installed first: Argo Rollouts, Argo Workflows, Contour, Envoy Gateway, Istio, Knative, nginx, Traefik. --load measures gateways only under these kinds of load: ${Object.keys(LOAD_KINDS).join(", ")}. --harness tests the cluster itself; stop a running cluster first. With --context the images are pulled from REGISTRY/lastcall-manager:TAG and so on; TAG defaults to "test".`;

export type E2eOptions = {
  readonly settings: ClusterSettings;
  readonly install: boolean;
  /** Runs the cases that test the test cluster. */
  readonly harness: boolean;
  /** Runs measurements instead of cases. */
  readonly bench: boolean;
  /** Runs cases with programs of other projects. */
  readonly others: boolean;
  /** Kinds of load on gateways; `undefined` for all kinds. */
  readonly loads: readonly LoadKind[] | undefined;
  /** A context of the user's kubeconfig, which selects an existing cluster. */
  readonly context: string | undefined;
  readonly registry: string;
  readonly tag: string;
  /** Arguments of vitest: parts of file names, `-t NAME`. */
  readonly vitestArgs: readonly string[];
};

export function readE2eOptions(args: readonly string[]): E2eOptions | { readonly message: string } {
  const separatorIndex = args.indexOf("--");
  const ownArgs = separatorIndex < 0 ? args : args.slice(0, separatorIndex);
  try {
    const { values, positionals } = parseArgs({
      args: [...ownArgs],
      allowPositionals: true,
      options: {
        kubernetes: { type: "string" },
        "proxy-mode": { type: "string" },
        install: { type: "boolean" },
        harness: { type: "boolean" },
        bench: { type: "boolean" },
        others: { type: "boolean" },
        load: { type: "string", multiple: true },
        context: { type: "string" },
        registry: { type: "string" },
        tag: { type: "string" },
      },
    });
    const settings = readClusterSettings(values);
    if ("message" in settings) return settings;
    const unknownLoad = values.load?.find((load) => !isLoadKind(load));
    if (unknownLoad !== undefined)
      return { message: `--load: got "${unknownLoad}", expected one of ${Object.keys(LOAD_KINDS).join(", ")}.` };
    if (values.others === true && values.context !== undefined) {
      return {
        message:
          "--others cannot be used with --context: its images are imported on the nodes of the suite's own cluster, without a registry.",
      };
    }
    if ((values.context === undefined) !== (values.registry === undefined)) {
      return {
        message:
          "--context and --registry must be set together: nodes of an existing cluster pull the images from the registry.",
      };
    }
    return {
      settings,
      install: values.install === true,
      harness: values.harness === true,
      bench: values.bench === true,
      others: values.others === true,
      loads: values.load?.filter(isLoadKind),
      context: values.context,
      registry: values.registry ?? "localhost",
      tag: values.tag ?? "test",
      vitestArgs: [...positionals, ...(separatorIndex < 0 ? [] : args.slice(separatorIndex + 1))],
    };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}
