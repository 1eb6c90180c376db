/** The pixels of a screenshot: PNG with 8 bits per colour, not interlaced, as browsers write it. */
import { inflateSync } from "node:zlib";

/** Counts the pixels of each colour, by `#rrggbb`. */
export function coloursOf(png: Buffer): ReadonlyMap<string, number> {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const kind = png[25];
  if (png[24] !== 8 || png[28] !== 0 || (kind !== 2 && kind !== 6)) throw new Error("another form of PNG");
  const step = kind === 6 ? 4 : 3;
  const stride = width * step;
  const raw = inflateSync(dataOf(png));
  const counts = new Map<string, number>();
  let above = Buffer.alloc(stride);
  for (let y = 0; y < height; y += 1) {
    const start = y * (stride + 1);
    const line = restored(raw.subarray(start + 1, start + 1 + stride), above, raw[start] ?? 0, step);
    for (let x = 0; x < stride; x += step) {
      const colour = `#${line.toString("hex", x, x + 3)}`;
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    above = line;
  }
  return counts;
}

function dataOf(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  return Buffer.concat(parts);
}

/** Undoes the filter of one line. */
function restored(line: Buffer, above: Buffer, filter: number, step: number): Buffer<ArrayBuffer> {
  const out = Buffer.alloc(line.length);
  for (let x = 0; x < line.length; x += 1) {
    const left = out[x - step] ?? 0;
    const up = above[x] ?? 0;
    const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, above[x - step] ?? 0)][filter] ?? 0;
    out[x] = ((line[x] ?? 0) + predicted) & 0xff;
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
