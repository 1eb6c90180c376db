/** Checks that parsers of relay and webhook read damaged documents correctly or refuse them with a message. */
import { isIP } from "node:net";
import { MESSAGE_LIMIT } from "../../src/api-server/event-object.ts";
import { readWatchEvent } from "../../src/api-server/watch-event.ts";
import type { CredentialClaims } from "../../src/contract/relay-wire.ts";
import { parseDrainNotice } from "../../src/drain-history/drain-notice.ts";
import { drainSentence } from "../../src/drain-history/drain-sentence.ts";
import { injectPod } from "../../src/injection/inject.ts";
import { eventFor } from "../../src/relay/drains/drains-route.ts";
import { createSliceIndex } from "../../src/relay/slices/slice-index.ts";
import { readWithdrawalRequest } from "../../src/relay/withdrawal/withdrawal-request.ts";
import { admit } from "../../src/webhook/admission/admit.ts";
import { CLIENT, someDrain, someReport } from "../drain-history/some-drain.ts";
import type { Random } from "../manager/fuzz/seeded-random.ts";
import { ADDRESSES, sliceObject, UIDS } from "../relay/slices/slice-cases.ts";
import { POD, reviewOf } from "../webhook/pod-review.ts";
import { RULES } from "../webhook/server-under-test.ts";
import { damageJson } from "./damaged-json.ts";

/** @throws Error if the parser misreads the document, or refuses it without a proper message */
export type Reader = (text: string) => Promise<"accepted" | "refused"> | "accepted" | "refused";

export type DocumentKind = { readonly name: string; readonly samples: readonly unknown[]; readonly read: Reader };

const UID = "0b5f3c1e-1111-4222-8333-444455556666";
const MESSAGE_LIMIT_CHARACTERS = 300;
/** A report's reason may have 1 000 characters, and the sentence adds names. */
const SENTENCE_LIMIT_CHARACTERS = 2_500;

function expectThat(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

const isNamespace = (text: string) => text.length <= 63 && /^[a-z0-9-]+$/.test(text);
const isOneLine = (text: string) => !/[\r\n]/.test(text);

const requestKind: DocumentKind = {
  name: "request",
  samples: [
    { namespace: "shop", pod: "web-7d9f-x2x4p", uid: UID, addresses: ["10.0.0.1", "fd00::1"] },
    { namespace: "shop", pod: "web-0", uid: "a", addresses: [] },
  ],
  read: (text) => {
    const read = readWithdrawalRequest(text);
    if (!read.ok) {
      expectThat(
        read.message.length < MESSAGE_LIMIT_CHARACTERS && isOneLine(read.message),
        `not a short message: ${read.message}`,
      );
      return "refused";
    }
    const { namespace, pod, uid, addresses } = read.request;
    expectThat(isNamespace(namespace), `namespace ${namespace}`);
    // Names become part of a request path to the API server.
    expectThat(/^[a-z0-9.-]{1,253}$/.test(pod) && !pod.startsWith("."), `pod ${pod}`);
    expectThat(/^[0-9A-Za-z-]{1,64}$/.test(uid), `uid ${uid}`);
    expectThat(addresses.length <= 2 && addresses.every((one) => isIP(one) !== 0), `addresses ${addresses.join()}`);
    return "accepted";
  },
};

const CLAIMS: CredentialClaims = {
  namespace: "shop",
  ownerKind: "ReplicaSet",
  ownerName: "web-7d9f",
  ownerUid: UID,
  nonce: "0123",
};

const reportKind: DocumentKind = {
  name: "report",
  samples: [
    { namespace: "shop", pod: "web-0", uid: UID, report: someReport({ left: [CLIENT, CLIENT], leftTotal: 7 }) },
    {
      ...{ namespace: "shop", pod: "web-0", uid: UID },
      report: someReport({ outcome: "timeout", relay: "unknown: the relay stopped responding", withdrawnAfterMs: -1 }),
    },
  ],
  read: (text) => {
    const value = parseJson(text);
    if (value === undefined) return "refused";
    const read = parseDrainNotice(value);
    if (!read.ok) {
      expectThat(
        read.problem.length < MESSAGE_LIMIT_CHARACTERS && isOneLine(read.problem),
        `not a short message: ${read.problem}`,
      );
      return "refused";
    }
    const record = someDrain(read.notice);
    const event = eventFor(record, CLAIMS)?.message ?? "";
    expectThat(event.length <= MESSAGE_LIMIT, `an Event of ${event.length} characters`);
    for (const sentence of [drainSentence(record), event, record.report.why])
      expectThat(
        /^[\x20-\x7e]*$/.test(sentence) && sentence.length < SENTENCE_LIMIT_CHARACTERS,
        `sentence: ${sentence}`,
      );
    const { milliseconds, left, leftTotal } = record.report;
    const numbers = [...Object.values(milliseconds), leftTotal, ...left.map(({ ageMs }) => ageMs)];
    expectThat(
      numbers.every((one) => Number.isSafeInteger(one) && one >= 0),
      `numbers: ${numbers.join()}`,
    );
    return "accepted";
  },
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const slices = [
  { name: "web-a", service: "web", endpoints: [{ uid: UIDS[0], address: ADDRESSES[0], conditions: { ready: true } }] },
  {
    name: "by-hand",
    endpoints: [{ address: ADDRESSES[2] }, { address: ADDRESSES[0], conditions: { terminating: true } }],
  },
].map(sliceObject);

const sliceKind: DocumentKind = {
  name: "slice",
  samples: ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"].flatMap((type) =>
    slices.map((object) => ({ type, object: { kind: "EndpointSlice", ...object } })),
  ),
  read: (text) => {
    const event = readWatchEvent(text);
    if (event.kind !== "put" && event.kind !== "deleted") return "refused";
    const index = createSliceIndex();
    const client = index.add({ name: "web-0", uid: UIDS[0], addresses: [ADDRESSES[2]] }, () => {});
    index.store.put(event.object);
    for (const { name, endpoints } of client.slices()) {
      expectThat(/^[\x20-\x7e]{1,253}$/.test(name), `a slice named ${name}`);
      for (const { targetUid, addresses } of endpoints)
        expectThat(
          targetUid === UIDS[0] || addresses.includes(ADDRESSES[2]),
          `an endpoint of another Pod: ${targetUid} ${addresses.join()}`,
        );
    }
    index.store.remove(event.object);
    expectThat([...client.slices()].length === 0, "a deleted slice is still in the index");
    client.unsubscribe();
    return "accepted";
  },
};

const ANNOTATED_POD = {
  ...POD,
  metadata: {
    ...POD.metadata,
    labels: { "lastcall.dev/inject": "enabled" },
    annotations: {
      "lastcall.dev/drain-delay": "7s",
      "lastcall.dev/containers": "app",
      "lastcall.dev/drain-ports": "8080,9090",
      "lastcall.dev/resources": "cpu=10m/20m,memory=16Mi",
    },
  },
  spec: {
    ...POD.spec,
    containers: [
      {
        ...{ name: "app", image: "shop:1", ports: [{ containerPort: 8080 }] },
        lifecycle: { preStop: { httpGet: { port: 8080, path: "/bye" } } },
        livenessProbe: { httpGet: { port: 8080 }, periodSeconds: 5 },
        resources: { limits: { cpu: "100m", memory: "64Mi" } },
      },
      { name: "web", image: "nginx:1", lifecycle: { preStop: { exec: { command: ["sleep", "5"] } } } },
    ],
  },
};
let tokenCount = 0;
const PORTS = {
  namespaceAnnotations: async () => ({}),
  inject: injectPod,
  randomness: {
    newToken: () => {
      tokenCount += 1;
      return String(tokenCount).padStart(32, "0");
    },
  },
};

const reviewKind: DocumentKind = {
  name: "review",
  samples: [reviewOf(), reviewOf({ object: ANNOTATED_POD }), reviewOf({ object: ANNOTATED_POD, dryRun: true })],
  read: async (text) => {
    const { status, body, fault } = await admit(text, RULES, PORTS);
    expectThat(fault === undefined, `our fault: ${fault instanceof Error ? fault.stack : String(fault)}`);
    if (status === 400) {
      expectThat(body.length < MESSAGE_LIMIT_CHARACTERS && /^[A-Z].*\.\n$/s.test(body), `not a short message: ${body}`);
      return "refused";
    }
    expectThat(status === 200, `status ${status}`);
    const { response } = JSON.parse(body);
    expectThat(typeof response.uid === "string" && response.uid !== "", "a response without a uid");
    expectThat(response.allowed === true, `refused without a reason: ${body}`);
    if (response.patch !== undefined) expectThat(Array.isArray(patchOf(response.patch)), "a patch that is not a list");
    return "accepted";
  },
};

function patchOf(encoded: string): unknown {
  return JSON.parse(Buffer.from(encoded, "base64").toString("utf8"));
}

export const DOCUMENT_KINDS: readonly DocumentKind[] = [requestKind, reportKind, sliceKind, reviewKind];

/** @returns the number of accepted documents. @throws Error with the document that was read wrongly */
export async function readDamaged(kind: DocumentKind, count: number, random: Random): Promise<number> {
  let acceptedCount = 0;
  for (let n = 0; n < count; n += 1) {
    const sample = random.pick(kind.samples);
    const text = random.chance(0.02) ? JSON.stringify(sample) : damageJson(sample, random);
    try {
      if ((await kind.read(text)) === "accepted") acceptedCount += 1;
    } catch (error) {
      throw new DocumentError(`${kind.name}: ${error instanceof Error ? error.message : String(error)}`, text);
    }
  }
  return acceptedCount;
}

export class DocumentError extends Error {
  readonly text: string;
  constructor(message: string, text: string) {
    super(`${message}\nthe document: ${text.slice(0, 2_000)}`);
    this.text = text;
  }
}
