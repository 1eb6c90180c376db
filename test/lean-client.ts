/**
 * Loaded before every program of the tests: an import of the Kubernetes client gets the single file that
 * `lean-client-build.ts` bundled from its used part, as in a release. The package itself has a thousand modules, which would
 * cost each start a third of a second of CPU time.
 */
import { registerHooks } from "node:module";

const url = new URL("../build/lean-client/kube-config.mjs", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    // Matches the package's name, and the file to which the test runner resolves it.
    specifier === "@kubernetes/client-node" || specifier.endsWith("/@kubernetes/client-node/dist/index.js")
      ? { url, format: "module", shortCircuit: true }
      : next(specifier, context),
});
