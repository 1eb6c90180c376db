import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createBodyBudget } from "../../../src/webhook/intake/body-budget.ts";
import { type BodyResult, bodyReader } from "../../../src/webhook/intake/body-reader.ts";
import { createBufferPool } from "../../../src/webhook/intake/buffer-pool.ts";
import { unknownClientPace } from "../../../src/webhook/intake/unknown-client-pace.ts";

const LIMITS = { acceptBytes: 1_000_000, discardBytes: 2_000_000 };

type TestOptions = { readonly isKnown?: boolean; readonly nowMs?: () => number; readonly limitBytes?: number };

function createReader({ isKnown = true, nowMs = () => 0, limitBytes }: TestOptions = {}) {
  const budget = createBodyBudget(limitBytes);
  const pauses: { readonly ms: number; readonly act: () => void }[] = [];
  const read = bodyReader({
    limits: LIMITS,
    budget,
    pool: createBufferPool(),
    pace: unknownClientPace(1_000_000),
    isKnown: () => isKnown,
    nowMs,
    schedule: (ms, act) => pauses.push({ ms, act }),
  });
  return { read, budget, pauses };
}

type Message = { readonly headers: Readonly<Record<string, string>>; readonly chunks: readonly Buffer[] };

function createMessage({ headers, chunks }: Message): IncomingMessage {
  return Object.assign(Readable.from(chunks, { objectMode: false }), { headers }) as unknown as IncomingMessage;
}

function messageOf(chunks: readonly Buffer[]): IncomingMessage {
  return createMessage({ headers: { "content-length": String(Buffer.concat(chunks).length) }, chunks });
}

function readOnce(reader: ReturnType<typeof createReader>, source: IncomingMessage): Promise<BodyResult> {
  return new Promise((resolve) => reader.read(source, resolve));
}

function textOf(body: BodyResult): string {
  return body.kind === "complete" ? body.text() : body.kind;
}

test.each(["plain", "значение, 値, 🚪", "\u0000\u007f", "\ufeffmarked", ""])(
  "the body reader returns the body %j unchanged",
  async (text) => {
    const bytes = Buffer.from(text);
    const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    expect(textOf(await readOnce(createReader(), messageOf([bytes])))).toBe(decoded);
    // Chunks may end anywhere, even inside a character.
    const singleBytes = [...bytes].map((byte) => Buffer.from([byte]));
    expect(textOf(await readOnce(createReader(), messageOf(singleBytes)))).toBe(text);
  },
);

test("bodies of every length and chunk size are read in sequence with the same buffers", async () => {
  const reader = createReader();
  const bodies = fc.array(
    fc
      .array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 6 })
      .map((lengths) => lengths.map((length, index) => Buffer.alloc(length, `${index}:${length};`))),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (all) => {
      for (const chunks of all) {
        const body = await readOnce(reader, messageOf(chunks));
        expect(textOf(body)).toBe(Buffer.concat(chunks).toString());
        if (body.kind === "complete") body.release();
      }
      expect(reader.budget.bufferedBytes()).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test("a chunked body without a Content-Length is rejected before its first byte is read", async () => {
  const source = createMessage({ headers: { "transfer-encoding": "chunked" }, chunks: [Buffer.from("{}")] });
  expect(await readOnce(createReader(), source)).toEqual({ kind: "refused", reason: "without_length" });
  expect(source.readableFlowing).toBeNull();
});

test("a body of a connection without earlier reviews gets memory for the bytes that arrived, not for its Content-Length", async () => {
  const reader = createReader({ isKnown: false });
  const source = Object.assign(new Readable({ read: () => undefined }), {
    headers: { "content-length": String(LIMITS.acceptBytes) },
  });
  reader.read(source as unknown as IncomingMessage, () => undefined);
  source.push(Buffer.from("{"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(reader.budget.bufferedBytes()).toBeGreaterThan(0);
  expect(reader.budget.bufferedBytes()).toBeLessThanOrEqual(16 * 1024);
});

test("a body above the size limit is read and discarded, and a body far above the limit is not read", async () => {
  const reader = createReader();
  const large = Buffer.alloc(LIMITS.acceptBytes + 1);
  expect(await readOnce(reader, messageOf([large]))).toEqual({ kind: "too-large" });
  const source = createMessage({ headers: { "content-length": "99999999999" }, chunks: [large] });
  expect(await readOnce(reader, source)).toEqual({ kind: "too-large" });
  expect(source.readableFlowing).toBeNull();
  expect(reader.budget.bufferedBytes()).toBe(0);
});

test("a client that disconnects during its request body releases all memory of that body", async () => {
  const reader = createReader();
  const source = Object.assign(new Readable({ read: () => undefined }), { headers: { "content-length": "1000" } });
  const read = readOnce(reader, source as unknown as IncomingMessage);
  source.push(Buffer.from("{"));
  await new Promise((resolve) => setImmediate(resolve));
  source.destroy(new Error("aborted"));
  expect(await read).toEqual({ kind: "cut-off" });
  expect(reader.budget.bufferedBytes()).toBe(0);
  expect(reader.budget.incompleteBodyCount()).toBe(0);
});

test("only large bodies of connections without earlier reviews wait for each other, and all bodies are read", async () => {
  const chunks = Array.from({ length: 4 }, () => Buffer.alloc(50_000, "a"));
  const knownReader = createReader({ isKnown: true });
  expect(textOf(await readOnce(knownReader, messageOf(chunks)))).toHaveLength(200_000);
  expect(knownReader.pauses).toEqual([]);
  const unknownReader = createReader({ isKnown: false });
  const bothBodies = Promise.all([
    readOnce(unknownReader, messageOf(chunks)),
    readOnce(unknownReader, messageOf(chunks)),
  ]);
  let waitCount = 0;
  const timer = setInterval(() => {
    for (const { act } of unknownReader.pauses.splice(0)) {
      waitCount += 1;
      act();
    }
  }, 1);
  expect((await bothBodies).map((body) => textOf(body).length)).toEqual([200_000, 200_000]);
  clearInterval(timer);
  expect(waitCount).toBeGreaterThan(2);
});
