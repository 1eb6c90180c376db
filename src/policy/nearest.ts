/** Returns the candidate with the smallest edit distance to `name`, if the distance is small enough for a typo. */
export function findNearest(name: string, candidates: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let nearestDistance = Math.floor(name.length / 3) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Levenshtein distance of the first 64 characters, because the input is untrusted and may be long. */
function editDistance(left: string, right: string): number {
  const a = left.slice(0, 64);
  const b = right.slice(0, 64);
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replacementDistance = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replacementDistance, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
