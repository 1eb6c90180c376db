/**
 * Loaded before every program of the tests: a program that asks for the Kubernetes client gets the one file that
 * `lean-client-build.ts` made of its used part, as in a release. The package itself is a thousand modules, which would
 * cost each start a third of a second of processor time.
 */
import { registerHooks } from "node:module";

const url = new URL("../build/lean-client/kube-config.mjs", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    // By its name, or by the file that the test runner found for it.
    specifier === "@kubernetes/client-node" || specifier.endsWith("/@kubernetes/client-node/dist/index.js")
      ? { url, format: "module", shortCircuit: true }
      : next(specifier, context),
});
