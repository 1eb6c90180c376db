/** Prints the files that one call of injectPod runs through. */
import { injectPod } from "../../src/injection/inject.ts";
import { DEFAULT_CONFIG } from "../../src/policy/cluster-config.ts";
import { startCoverage } from "./executed-files.ts";

/** One container, native mode, a namespace without a LimitRange. */
const POD = { metadata: { name: "web-0" }, spec: { containers: [{ name: "app", image: "web:1" }] } };
const REQUEST = {
  pod: POD,
  namespace: "shop",
  optIn: "all",
  namespaceAnnotations: { "lastcall.dev/drain-timeout": "90s" },
  overrides: [],
} as const;
const FACTS = {
  managerImage: "lastcall-manager:0.1.0",
  systemNamespaces: [],
  apiServerVersion: "1.35",
  lowestKubeletVersion: "1.35",
} as const;

const call = () => injectPod(REQUEST, DEFAULT_CONFIG, FACTS, { newToken: () => "0".repeat(32) });
// Module loading and values that are created once do not count.
call();
const end = startCoverage();
call();
process.stdout.write(JSON.stringify(end()));
