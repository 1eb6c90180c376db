/** Prints the files whose code one call of injectPod executes. */
import { injectPod } from "../../src/injection/inject.ts";
import { DEFAULT_CONFIG } from "../../src/policy/cluster-config.ts";
import { startCoverage } from "./executed-files.ts";

/** A Pod with one container, in native mode, in a namespace without a LimitRange. */
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

const injectOnce = () => injectPod(REQUEST, DEFAULT_CONFIG, FACTS, { newToken: () => "0".repeat(32) });
// The first call also loads modules and creates constants, which must not be measured.
injectOnce();
const stopCoverage = startCoverage();
injectOnce();
process.stdout.write(JSON.stringify(stopCoverage()));
