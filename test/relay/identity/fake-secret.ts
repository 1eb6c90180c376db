/** One Secret in memory, with the API server's versions and conflicts. */
import type { SecretStore, StoredSecret } from "../../../src/api-server/secret-store.ts";

export type FakeSecret = {
  readonly store: SecretStore;
  /** The current content. */
  readonly data: () => Readonly<Record<string, string>> | undefined;
  readonly put: (data: Readonly<Record<string, string>> | undefined) => void;
  /** Received calls, such as `read`. */
  readonly calls: string[];
  /** While set, every call rejects with it. */
  failWith: string;
  /** Called before each write, for a concurrent one. */
  beforeWrite: () => void;
};

export function fakeSecret(): FakeSecret {
  let stored: StoredSecret | undefined;
  let version = 0;
  const put = (data: Readonly<Record<string, string>> | undefined): void => {
    version += 1;
    stored = data === undefined ? undefined : { resourceVersion: String(version), data };
  };
  const called = async (name: string): Promise<void> => {
    fake.calls.push(name);
    if (fake.failWith !== "") throw new Error(fake.failWith);
  };
  const fake: FakeSecret = {
    calls: [],
    failWith: "",
    beforeWrite: () => undefined,
    data: () => stored?.data,
    put,
    store: {
      read: async () => {
        await called("read");
        return stored;
      },
      create: async (data) => {
        await called("create");
        fake.beforeWrite();
        if (stored !== undefined) return "conflict";
        put(data);
        return "done";
      },
      update: async (seen, changes) => {
        await called("update");
        fake.beforeWrite();
        if (stored?.resourceVersion !== seen.resourceVersion) return "conflict";
        const merged = Object.entries({ ...stored.data, ...changes });
        put(Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined)));
        return "done";
      },
    },
  };
  return fake;
}
