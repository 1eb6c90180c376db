/** Adds up the samples in Prometheus' text format that have a given name and labels. Pure. */

type Label = { readonly name: string; readonly value: string };
type Series = { readonly name: string; readonly labels: readonly Label[]; readonly end: number };

/**
 * @param selector a metric name, optionally with labels, which all have to match: `name{label="x"}`
 * @returns the sum of the matching samples; NaN if no sample matches, or if the value of a matching sample is not a number
 */
export function sumOfSamples(text: string, selector: string): number {
  const selectedSeries = readSeries(selector);
  if (selectedSeries === undefined || selectedSeries.end !== selector.length) return Number.NaN;
  let sum = 0;
  let hasMatch = false;
  let start = 0;
  while (start < text.length) {
    const newlineAt = text.indexOf("\n", start);
    const end = newlineAt < 0 ? text.length : newlineAt;
    // Most lines belong to other metrics, so the name is compared before the line is parsed.
    if (text.startsWith(selectedSeries.name, start)) {
      const line = text.slice(start, end).trim();
      const series = readSeries(line);
      if (series !== undefined && matches(series, selectedSeries)) {
        sum = sum + sampleValue(line.slice(series.end));
        hasMatch = true;
      }
    }
    start = end + 1;
  }
  return hasMatch ? sum : Number.NaN;
}

function matches(series: Series, selectedSeries: Series): boolean {
  if (series.name !== selectedSeries.name) return false;
  return selectedSeries.labels.every((label) =>
    series.labels.some((other) => other.name === label.name && other.value === label.value),
  );
}

function sampleValue(rest: string): number {
  if (rest.charAt(0) !== " " && rest.charAt(0) !== "\t") return Number.NaN;
  const words = rest.trim().split(/[ \t]+/);
  const value = words[0] ?? "";
  if (words.length > 2 || !/^[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?$/.test(value)) return Number.NaN;
  return Number(value);
}

function readSeries(line: string): Series | undefined {
  const nameEnd = endOfName(line, 0);
  if (nameEnd === 0) return undefined;
  const name = line.slice(0, nameEnd);
  const labels: Label[] = [];
  if (line.charAt(nameEnd) !== "{") return { name, labels, end: nameEnd };
  let at = skipSpaces(line, nameEnd + 1);
  while (at < line.length && line.charAt(at) !== "}") {
    const labelEnd = endOfName(line, at);
    const valueStart = line.indexOf('"', labelEnd) + 1;
    if (labelEnd === at || valueStart === 0 || line.slice(labelEnd, valueStart).trim() !== '="') return undefined;
    const value = readQuoted(line, valueStart);
    if (value === undefined) return undefined;
    labels.push({ name: line.slice(at, labelEnd), value: value.text });
    at = skipSpaces(line, value.end);
    if (line.charAt(at) === ",") at = skipSpaces(line, at + 1);
    else if (line.charAt(at) !== "}") return undefined;
  }
  return at < line.length ? { name, labels, end: at + 1 } : undefined;
}

function skipSpaces(line: string, from: number): number {
  let at = from;
  while (line.charAt(at) === " " || line.charAt(at) === "\t") at = at + 1;
  return at;
}

function endOfName(line: string, from: number): number {
  let at = from;
  while (at < line.length && isNameCode(line.charCodeAt(at))) at = at + 1;
  return at;
}

function isNameCode(code: number): boolean {
  if (code >= 97 && code <= 122) return true;
  return (code >= 48 && code <= 58) || (code >= 65 && code <= 90) || code === 95;
}

function readQuoted(line: string, from: number): { readonly text: string; readonly end: number } | undefined {
  let text = "";
  let at = from;
  while (at < line.length) {
    const next = line.charAt(at);
    if (next === '"') return { text, end: at + 1 };
    if (next === "\\") {
      at = at + 1;
      text = `${text}${line.charAt(at) === "n" ? "\n" : line.charAt(at)}`;
    } else text = `${text}${next}`;
    at = at + 1;
  }
  return undefined;
}
