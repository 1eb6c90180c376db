/** Reads and writes one Secret that replicas share. A write conflict is returned, every other failure is thrown. */
import { objectAt } from "../kubernetes/raw-json.ts";
import type { SendRequest } from "./api-request.ts";
import {
  decodeBase64,
  encodeBase64,
  type Operation,
  readObject,
  requireResourceVersion,
  resourceVersionOf,
  type WriteResult,
  writeObject,
} from "./stored-object.ts";

export type StoredSecret = {
  readonly resourceVersion: string;
  /** Decoded as UTF-8. */
  readonly data: Readonly<Record<string, string>>;
};

/** Every function rejects if the API server is unreachable or returns an error. */
export type SecretStore = {
  /** Does not use a cache; `undefined` if the Secret does not exist. */
  readonly read: () => Promise<StoredSecret | undefined>;
  /** `conflict` if the Secret already exists. */
  readonly create: (data: Readonly<Record<string, string>>) => Promise<WriteResult>;
  /** Changes only these entries; `undefined` removes an entry. `conflict` if the Secret has changed since it was read. */
  readonly update: (
    current: StoredSecret,
    changes: Readonly<Record<string, string | undefined>>,
  ) => Promise<WriteResult>;
};

export function createSecretStore(request: SendRequest, namespace: string, name: string): SecretStore {
  const displayName = `Secret ${namespace}/${name}`;
  const collectionPath = `/api/v1/namespaces/${namespace}/secrets`;
  return {
    read: async () => {
      const secret = await readObject(request, `${collectionPath}/${name}`, displayName);
      if (secret === undefined) return undefined;
      const entries = Object.entries(objectAt(secret, "data") ?? {}).map(
        ([key, value]) => [key, decodeBase64(value)] as const,
      );
      return { resourceVersion: resourceVersionOf(secret), data: Object.fromEntries(entries) };
    },
    create: (data) => {
      // Does not set labels, because a label that the chart sets to another value would be a conflict in every later upgrade of the chart.
      const metadata = { name, namespace };
      const encodedData = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encodeBase64(text)]));
      const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: encodedData };
      return writeObject(request, { method: "POST", path: collectionPath, body: JSON.stringify(secret) }, displayName);
    },
    update: (current, changes) =>
      writeObject(
        request,
        { method: "PATCH", path: `${collectionPath}/${name}`, body: JSON.stringify(secretPatch(current, changes)) },
        displayName,
      ),
  };
}

function secretPatch(
  current: StoredSecret,
  changes: Readonly<Record<string, string | undefined>>,
): readonly Operation[] {
  const operations: Operation[] = [requireResourceVersion(current.resourceVersion)];
  if (Object.keys(current.data).length === 0) operations.push({ op: "add", path: "/data", value: {} });
  for (const [key, text] of Object.entries(changes)) {
    if (text !== undefined) operations.push({ op: "add", path: `/data/${key}`, value: encodeBase64(text) });
    else if (Object.hasOwn(current.data, key)) operations.push({ op: "remove", path: `/data/${key}` });
  }
  return operations;
}
