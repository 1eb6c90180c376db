/** Reads the API server's version repeatedly, because a cluster may be upgraded while the webhook runs. */
import type { SendRequest } from "../../api-server/api-request.ts";
import { RELIST_MS } from "../../api-server/freshness.ts";
import { retryDelayMs } from "../../api-server/retry-delay.ts";
import { isRawObject, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { parseVersion } from "../../kubernetes/version.ts";
import type { Log } from "../log.ts";

type VersionPorts = {
  readonly request: SendRequest;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly log: Log;
};

type ServerVersion = {
  /** An outdated version is harmless: versions only increase, and an older version enables fewer features. */
  readonly current: () => string | undefined;
  readonly firstRead: Promise<void>;
  readonly end: Promise<void>;
};

const REQUEST_TIMEOUT_MS = 5_000;

export function watchServerVersion(ports: VersionPorts, signal: AbortSignal): ServerVersion {
  let onFirst: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    onFirst = resolve;
  });
  let current: string | undefined;

  const readVersion = async (): Promise<boolean> => {
    const response = await ports.request({ method: "GET", path: "/version", limitMs: REQUEST_TIMEOUT_MS, signal });
    const version = response.status === 200 ? versionIn(JSON.parse(response.text)) : undefined;
    if (version === undefined) return false;
    if (version !== current) ports.log.info({ version, before: current }, "read the API server's version");
    current = version;
    onFirst();
    return true;
  };

  const readRepeatedly = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      failures = (await readVersion().catch(() => false)) ? 0 : failures + 1;
      await ports.sleep(failures === 0 ? RELIST_MS : retryDelayMs(failures, ports.random()), signal);
    }
  };

  return { current: () => current, firstRead: first, end: readRepeatedly() };
}

/** The full version, such as `v1.31.4-eks-abc`; `undefined` if the response contains no valid version. */
export function versionIn(response: unknown): string | undefined {
  const raw: RawObject = isRawObject(response) ? response : {};
  const text = textAt(raw, "gitVersion") ?? "";
  if (parseVersion(text) !== undefined) return text;
  const short = `${textAt(raw, "major") ?? ""}.${textAt(raw, "minor") ?? ""}`;
  return parseVersion(short) === undefined ? undefined : short;
}
