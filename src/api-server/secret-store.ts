/** Reads and writes one Secret that replicas share. A write conflict is returned, every other failure is thrown. */
import { objectAt } from "../kubernetes/raw-json.ts";
import type { SendRequest } from "./api-request.ts";
import {
  atVersion,
  base64,
  decodeBase64,
  type Operation,
  readObject,
  versionOf,
  type WriteResult,
  writeObject,
} from "./stored-object.ts";

export type StoredSecret = {
  readonly resourceVersion: string;
  /** Decoded as UTF-8. */
  readonly data: Readonly<Record<string, string>>;
};

/** Every function rejects when the API server is unreachable or refuses. */
export type SecretStore = {
  /** Never from a cache; `undefined` when the Secret does not exist. */
  readonly read: () => Promise<StoredSecret | undefined>;
  /** `conflict` when it exists already. */
  readonly create: (data: Readonly<Record<string, string>>) => Promise<WriteResult>;
  /** Changes only these entries; `undefined` removes one. `conflict` when the Secret has changed since it was read. */
  readonly update: (seen: StoredSecret, changes: Readonly<Record<string, string | undefined>>) => Promise<WriteResult>;
};

export function secretStore(request: SendRequest, namespace: string, name: string): SecretStore {
  const what = `Secret ${namespace}/${name}`;
  const folder = `/api/v1/namespaces/${namespace}/secrets`;
  return {
    read: async () => {
      const found = await readObject(request, `${folder}/${name}`, what);
      if (found === undefined) return undefined;
      const entries = Object.entries(objectAt(found, "data") ?? {}).map(
        ([key, value]) => [key, decodeBase64(value)] as const,
      );
      return { resourceVersion: versionOf(found), data: Object.fromEntries(entries) };
    },
    create: (data) => {
      // No labels: owning one with another value than the chart's would fail every later upgrade.
      const metadata = { name, namespace };
      const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]));
      const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: encoded };
      return writeObject(request, { method: "POST", path: folder, body: JSON.stringify(secret) }, what);
    },
    update: (seen, changes) =>
      writeObject(
        request,
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
