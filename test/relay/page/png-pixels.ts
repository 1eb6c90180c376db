/** Reads the pixels of a screenshot: PNG with 8 bits per colour, not interlaced, as browsers write it. */
import { inflateSync } from "node:zlib";

/** Counts the pixels of each colour, by `#rrggbb`. */
export function countColours(png: Buffer): ReadonlyMap<string, number> {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const colourType = png[25];
  if (png[24] !== 8 || png[28] !== 0 || (colourType !== 2 && colourType !== 6))
    throw new Error("unsupported PNG: expected 8 bits per colour, not interlaced, without a palette");
  const bytesPerPixel = colourType === 6 ? 4 : 3;
  const stride = width * bytesPerPixel;
  const filteredLines = inflateSync(readImageData(png));
  const counts = new Map<string, number>();
  let previousLine = Buffer.alloc(stride);
  for (let y = 0; y < height; y += 1) {
    const start = y * (stride + 1);
    const line = unfilterLine(
      filteredLines.subarray(start + 1, start + 1 + stride),
      previousLine,
      filteredLines[start] ?? 0,
      bytesPerPixel,
    );
    for (let x = 0; x < stride; x += bytesPerPixel) {
      const colour = `#${line.toString("hex", x, x + 3)}`;
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    previousLine = line;
  }
  return counts;
}

function readImageData(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let index = 8; index < png.length; ) {
    const length = png.readUInt32BE(index);
    if (png.toString("latin1", index + 4, index + 8) === "IDAT")
      parts.push(png.subarray(index + 8, index + 8 + length));
    index += length + 12;
  }
  return Buffer.concat(parts);
}

/** Undoes the filter of one line. */
function unfilterLine(line: Buffer, previousLine: Buffer, filter: number, bytesPerPixel: number): Buffer<ArrayBuffer> {
  const pixels = Buffer.alloc(line.length);
  for (let x = 0; x < line.length; x += 1) {
    const left = pixels[x - bytesPerPixel] ?? 0;
    const up = previousLine[x] ?? 0;
    const predicted =
      [0, left, up, (left + up) >> 1, predictByPaeth(left, up, previousLine[x - bytesPerPixel] ?? 0)][filter] ?? 0;
    pixels[x] = ((line[x] ?? 0) + predicted) & 0xff;
  }
  return pixels;
}

function predictByPaeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
