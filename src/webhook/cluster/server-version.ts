/** The API server's own version, asked again now and then: clusters are upgraded while webhooks run. */
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
  /** The last one told. It does not grow stale: a version may rise, and then the old one is the careful answer. */
  readonly current: () => string | undefined;
  readonly first: Promise<void>;
  readonly end: Promise<void>;
};

const ASK_LIMIT_MS = 5_000;

export function askServerVersion(ports: VersionPorts, signal: AbortSignal): ServerVersion {
  let arrived: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let current: string | undefined;

  const askOnce = async (): Promise<boolean> => {
    const answer = await ports.request({ method: "GET", path: "/version", limitMs: ASK_LIMIT_MS, signal });
    const told = answer.status === 200 ? versionIn(JSON.parse(answer.text)) : undefined;
    if (told === undefined) return false;
    if (told !== current) ports.log.info({ version: told, before: current }, "API server told its version");
    current = told;
    arrived();
    return true;
  };

  const askForEver = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      failures = (await askOnce().catch(() => false)) ? 0 : failures + 1;
      await ports.sleep(failures === 0 ? RELIST_MS : retryDelayMs(failures, ports.random()), signal);
    }
  };

  return { current: () => current, first, end: askForEver() };
}

/** The whole text, such as `v1.31.4-eks-abc`; `undefined` when it is none. */
export function versionIn(answer: unknown): string | undefined {
  const raw: RawObject = isRawObject(answer) ? answer : {};
  const text = textAt(raw, "gitVersion") ?? "";
  if (parseVersion(text) !== undefined) return text;
  const short = `${textAt(raw, "major") ?? ""}.${textAt(raw, "minor") ?? ""}`;
  return parseVersion(short) === undefined ? undefined : short;
}
