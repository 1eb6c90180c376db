/** The two configurations at the API server, and the proof: the self-test's dry runs, tried once. */
import type { AskApi } from "../../api-server/api-request.ts";
import { atVersion, type Operation, readObject, versionOf, writeObject } from "../../api-server/stored-object.ts";
import { objectsAt } from "../../kubernetes/raw-json.ts";
import { pathOf, whatOf } from "../certificates/webhook-configurations.ts";
import type { EnforcementSettings } from "../enforcement-settings.ts";
import { selfTest } from "../self-test/self-test.ts";
import type { EnforcerPorts } from "./enforcer.ts";
import { isQuotaRefusal } from "./quota-refusal.ts";

/** `image` is that of the Pods that are asked for; nothing pulls it. */
type Asked = EnforcementSettings & { readonly image: string };

export function enforcerPorts(ask: AskApi, settings: Asked): EnforcerPorts {
  const { enforceCopies, enforceConfiguration, proofNamespace, proofLabels, image } = settings;
  return {
    read: async () => {
      const open = await readObject(ask, pathOf(enforceCopies), whatOf(enforceCopies));
      const found = await readObject(ask, pathOf(enforceConfiguration), whatOf(enforceConfiguration));
      const enforcing = found && { resourceVersion: versionOf(found), webhooks: objectsAt(found, "webhooks") };
      return { open: objectsAt(open, "webhooks"), enforcing };
    },
    write: (resourceVersion, webhooks) => {
      const operations: readonly Operation[] = [
        atVersion(resourceVersion),
        { op: "add", path: "/webhooks", value: webhooks },
      ];
      const body = JSON.stringify(operations);
      return writeObject(
        ask,
        { method: "PATCH", path: pathOf(enforceConfiguration), body },
        whatOf(enforceConfiguration),
      );
    },
    prove: async () => {
      let said = "";
      let isQuotaFull = false;
      const expected = { namespace: proofNamespace, labels: proofLabels, image, waitMs: 0, startsPod: false };
      const isProven = await selfTest(expected, {
        ask: async (question) => {
          const answer = await ask(question);
          isQuotaFull = isQuotaRefusal(answer);
          return answer;
        },
        // One try; the next look is the next one.
        sleep: async () => {},
        nowMs: () => 0,
        say: (sentence) => {
          said = sentence;
        },
      });
      return isProven ? undefined : { why: said, reason: isQuotaFull ? "quota" : "other" };
    },
  };
}
