/** Injects random Pods by webhook and command line, and compares the results. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { writeYaml } from "../cli/random-yaml.ts";
import { arbitraryPod } from "../injection/arbitrary-pod.ts";
import { documentsOf } from "./folder.ts";
import { protectedFieldsOf } from "./protected-fields.ts";
import { throughCommandLine, throughWebhook } from "./webhook-and-cli.ts";

const arbitraryStyle = fc.array(fc.nat(99), { minLength: 20, maxLength: 60 });

test("webhook and command line inject any Pod in the same way, without a change of fields that an injection may not change", {
  timeout: 300_000,
}, async () => {
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryPod, arbitraryStyle, async (generated, styleChoices) => {
      // JSON omits undefined values, which a manifest cannot contain.
      const pod = JSON.parse(JSON.stringify(generated)) as object;
      const expected = await throughWebhook(pod, { namespace: "default" });
      const manifest = writeYaml(pod, {
        step: 2,
        hasIndentedDashes: true,
        eol: "\n",
        hasFinalEol: true,
        choices: styleChoices,
      });
      for (const text of [JSON.stringify(pod), manifest]) {
        const { out, err } = await throughCommandLine(text);
        expect(documentsOf(out), err).toEqual([expected]);
      }
      expect(protectedFieldsOf(expected)).toEqual(protectedFieldsOf(pod));
      if (!isDeepStrictEqual(expected, pod)) changed += 1;
    }),
    { numRuns: 80 },
  );
  expect(changed).toBeGreaterThan(24);
});
