/** One Secret in memory, with versions and lost races as the API server has them. */
import type { SecretStore, StoredSecret } from "../../../src/api-server/secret-store.ts";

export type PretendSecret = {
  readonly store: SecretStore;
  /** What is stored now. */
  readonly data: () => Readonly<Record<string, string>> | undefined;
  readonly put: (data: Readonly<Record<string, string>> | undefined) => void;
  /** Calls that reached it, such as `read`. */
  readonly calls: string[];
  /** While set, every call rejects with it. */
  failWith: string;
  /** Called before each write is looked at: the moment in which someone else can be first. */
  beforeWrite: () => void;
};

export function pretendSecret(): PretendSecret {
  let stored: StoredSecret | undefined;
  let version = 0;
  const put = (data: Readonly<Record<string, string>> | undefined): void => {
    version += 1;
    stored = data === undefined ? undefined : { resourceVersion: String(version), data };
  };
  const called = async (name: string): Promise<void> => {
    pretend.calls.push(name);
    if (pretend.failWith !== "") throw new Error(pretend.failWith);
  };
  const pretend: PretendSecret = {
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
        pretend.beforeWrite();
        if (stored !== undefined) return "conflict";
        put(data);
        return "done";
      },
      update: async (seen, changes) => {
        await called("update");
        pretend.beforeWrite();
        if (stored?.resourceVersion !== seen.resourceVersion) return "conflict";
        const merged = Object.entries({ ...stored.data, ...changes });
        put(Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined)));
        return "done";
      },
    },
  };
  return pretend;
}
