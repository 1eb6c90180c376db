/** Saves the relay's record of a drain, from which the picture in a guide is drawn. */
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { runLastcall } from "./command-line.ts";
import { RELEASE_NAMESPACE } from "./release.ts";

/** Saves `NAME.drain.json` among the case's artifacts. @throws if no replica has recorded the drain within 15 s */
export async function saveDrain(
  namespace: CaseNamespace,
  name: string,
  pod: string,
  podNamespace: string = namespace.name,
): Promise<DrainRecord> {
  const flags = ["-n", podNamespace, "--lastcall-namespace", RELEASE_NAMESPACE, "--json"];
  const record = await waitUntil(
    { condition: `a replica has the drain of ${pod}`, withinMs: 15_000, everyMs: 500 },
    async () => {
      const { drains }: { readonly drains: readonly DrainRecord[] } = JSON.parse(
        (await runLastcall(namespace.suite, ["drains", ...flags])).output,
      );
      return drains.find((drain) => drain.pod === pod);
    },
  );
  namespace.saveArtifact(`${name}.drain.json`, `${JSON.stringify(record, null, 2)}\n`);
  return record;
}
