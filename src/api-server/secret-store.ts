/** One Secret that replicas share. A lost race is an answer, everything else is thrown. */
import { objectAt } from "../kubernetes/raw-json.ts";
import type { AskApi } from "./api-request.ts";
import {
  atVersion,
  base64,
  decoded,
  type Operation,
  readObject,
  versionOf,
  type Written,
  writeObject,
} from "./stored-object.ts";

export type StoredSecret = {
  readonly resourceVersion: string;
  /** Decoded as UTF-8. */
  readonly data: Readonly<Record<string, string>>;
};

/** One Secret by name. Every function rejects when the API server cannot be asked or refuses. */
export type SecretStore = {
  /** As it is now, never from a cache; `undefined` when there is none. */
  readonly read: () => Promise<StoredSecret | undefined>;
  /** `conflict` when there is one already. */
  readonly create: (data: Readonly<Record<string, string>>) => Promise<Written>;
  /** Changes these entries only, `undefined` removes one; `conflict` when the Secret is no longer the one that was read. */
  readonly update: (seen: StoredSecret, changes: Readonly<Record<string, string | undefined>>) => Promise<Written>;
};

export function secretStore(ask: AskApi, namespace: string, name: string): SecretStore {
  const what = `Secret ${namespace}/${name}`;
  const folder = `/api/v1/namespaces/${namespace}/secrets`;
  return {
    read: async () => {
      const found = await readObject(ask, `${folder}/${name}`, what);
      if (found === undefined) return undefined;
      const entries = Object.entries(objectAt(found, "data") ?? {}).map(
        ([key, value]) => [key, decoded(value)] as const,
      );
      return { resourceVersion: versionOf(found), data: Object.fromEntries(entries) };
    },
    create: (data) => {
      // No label: what we would own with another value than the chart's would stop every later upgrade.
      const metadata = { name, namespace };
      const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]));
      const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: encoded };
      return writeObject(ask, { method: "POST", path: folder, body: JSON.stringify(secret) }, what);
    },
    update: (seen, changes) =>
      writeObject(
        ask,
        { method: "PATCH", path: `${folder}/${name}`, body: JSON.stringify(secretPatch(seen, changes)) },
        what,
      ),
  };
}

function secretPatch(seen: StoredSecret, changes: Readonly<Record<string, string | undefined>>): readonly Operation[] {
  const operations: Operation[] = [atVersion(seen.resourceVersion)];
  if (Object.keys(seen.data).length === 0) operations.push({ op: "add", path: "/data", value: {} });
  for (const [key, text] of Object.entries(changes)) {
    if (text !== undefined) operations.push({ op: "add", path: `/data/${key}`, value: base64(text) });
    else if (Object.hasOwn(seen.data, key)) operations.push({ op: "remove", path: `/data/${key}` });
  }
  return operations;
}
