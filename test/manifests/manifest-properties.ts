/** Tests properties that apply to every manifest. */
import { expect, test } from "vitest";
import { podsIn } from "../../src/kubernetes/pod-template.ts";
import { isRawObject, objectAt, textAt } from "../../src/kubernetes/raw-json.ts";
import { lastcall } from "../cli/run-lastcall.ts";
import { documentsOf, type TextFile } from "./folder.ts";
import { protectedFieldsOf } from "./protected-fields.ts";
import { throughCommandLine, throughWebhook } from "./webhook-and-cli.ts";

export function testManifestProperties(files: readonly TextFile[]): void {
  test.for(files)(
    "is injected once, not changed by a second injection, and restored byte for byte: $name",
    async (file) => {
      const { text } = file;
      const first = await lastcall(["inject"], { "-": text });
      expect(first.status, first.err).toBe(0);
      const second = await lastcall(["inject"], { "-": first.out });
      expect(second.status, second.err).toBe(0);
      expect(second.out).toBe(first.out);
      const uninjection = await lastcall(["uninject"], { "-": first.out });
      expect(uninjection.status, uninjection.err).toBe(0);
      expect(uninjection.out).toBe(text);
    },
  );

  test.for(files)(
    "keeps documents without a Pod, and all fields of Pods that an injection may not change: $name",
    async (file) => {
      const before = documentsOf(file.text);
      const { out } = await throughCommandLine(file.text);
      const after = documentsOf(out);
      expect(after).toHaveLength(before.length);
      for (const [index, document] of before.entries()) {
        const pods = podsIn(document);
        if (pods.length === 0) expect(after[index]).toEqual(document);
        expect(podsIn(after[index]).map(({ pod }) => protectedFieldsOf(pod))).toEqual(
          pods.map(({ pod }) => protectedFieldsOf(pod)),
        );
      }
      if (file.name.endsWith(".json")) expect(() => JSON.parse(out)).not.toThrow();
    },
  );

  test.for(files)(
    "has lint findings at existing lines, and no additional findings after an injection: $name",
    async ({ text }) => {
      const lint = async (manifest: string): Promise<readonly { rule: string; line: number }[]> =>
        JSON.parse((await lastcall(["lint", "--json"], { "-": manifest })).out).findings;
      const before = await lint(text);
      const lines = text.split("\n").length;
      expect(before.filter(({ line }) => line < 1 || line > lines)).toEqual([]);
      const after = await lint((await throughCommandLine(text)).out);
      const rules = new Set(before.map(({ rule }) => rule));
      expect(after.filter(({ rule }) => !rules.has(rule))).toEqual([]);
      expect(after.length).toBeLessThanOrEqual(before.length);
    },
  );

  test.for(files)("has the same injected Pods from the webhook and the command line: $name", async ({ text }) => {
    const documents = documentsOf(text);
    const namespaces = namespacesOf(documents);
    const expected: unknown[] = [];
    for (const { pod, namespace } of documents.flatMap((document) => podsIn(document))) {
      const name = namespace === "" ? "default" : namespace;
      expected.push(await throughWebhook(pod, { namespace: name }, namespaces.get(name)));
    }
    const { out } = await throughCommandLine(text);
    expect(
      documentsOf(out)
        .flatMap((document) => podsIn(document))
        .map(({ pod }) => pod),
    ).toEqual(expected);
  });
}

/** Returns annotations and labels of the namespaces in the file, as the webhook reads them. */
function namespacesOf(documents: readonly unknown[]): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const metadata = documents
    .filter(isRawObject)
    .filter((document) => textAt(document, "kind") === "Namespace")
    .map((document) => objectAt(document, "metadata"));
  return new Map(
    metadata.map((of) => [textAt(of, "name") ?? "", { ...objectAt(of, "annotations"), ...objectAt(of, "labels") }]),
  );
}
