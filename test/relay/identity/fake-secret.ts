/** Stores one Secret in memory, with the resource versions and conflicts of the API server. */
import type { SecretStore, StoredSecret } from "../../../src/api-server/secret-store.ts";

export type FakeSecret = {
  readonly store: SecretStore;
  /** The current content. */
  readonly data: () => Readonly<Record<string, string>> | undefined;
  readonly put: (data: Readonly<Record<string, string>> | undefined) => void;
  /** The names of the received calls, such as `read`. */
  readonly calls: string[];
  /** The message with which every call rejects; empty for success. */
  rejectionMessage: string;
  /** Called before each write, to simulate a concurrent write. */
  onWrite: () => void;
};

export function createFakeSecret(): FakeSecret {
  let stored: StoredSecret | undefined;
  let version = 0;
  const put = (data: Readonly<Record<string, string>> | undefined): void => {
    version += 1;
    stored = data === undefined ? undefined : { resourceVersion: String(version), data };
  };
  const recordCall = async (name: string): Promise<void> => {
    fake.calls.push(name);
    if (fake.rejectionMessage !== "") throw new Error(fake.rejectionMessage);
  };
  const fake: FakeSecret = {
    calls: [],
    rejectionMessage: "",
    onWrite: () => undefined,
    data: () => stored?.data,
    put,
    store: {
      read: async () => {
        await recordCall("read");
        return stored;
      },
      create: async (data) => {
        await recordCall("create");
        fake.onWrite();
        if (stored !== undefined) return "conflict";
        put(data);
        return "done";
      },
      update: async (previous, changes) => {
        await recordCall("update");
        fake.onWrite();
        if (stored?.resourceVersion !== previous.resourceVersion) return "conflict";
        const merged = Object.entries({ ...stored.data, ...changes });
        put(Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined)));
        return "done";
      },
    },
  };
  return fake;
}
