/** Reads the network policy that docs/relay.md recommends for namespaces with restricted egress. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export function readDocumentedPolicy(): unknown {
  const text = readFileSync(join(import.meta.dirname, "../../docs/relay.md"), "utf8");
  const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map((match): unknown => parse(match[1] ?? ""));
  if (blocks.length !== 1) throw new Error(`docs/relay.md has ${blocks.length} blocks of YAML, expected the policy`);
  return blocks[0];
}
