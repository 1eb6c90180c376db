/** Computes the QoS class from Kubernetes' rules in integers, independently of the source. */

type Amounts = Readonly<Record<string, string>> | null | undefined;
type WithResources = { readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts } | null };
type Spec = WithResources & {
  readonly containers: readonly WithResources[];
  readonly initContainers?: readonly WithResources[] | null;
};

const MILLI: Readonly<Record<string, bigint>> = { m: 1n, "": 1000n, Mi: 1000n * 1024n ** 2n, Gi: 1000n * 1024n ** 3n };

export function qosByOracle(pod: object): "Guaranteed" | "Burstable" | "BestEffort" {
  const { spec } = pod as { readonly spec: Spec };
  const podAmounts = amountsOf(spec);
  const countedAmounts = podAmounts.some((amount) => amount > 0n)
    ? [podAmounts]
    : [...spec.containers, ...(spec.initContainers ?? [])].map(amountsOf);
  if (countedAmounts.flat().every((amount) => amount === 0n)) return "BestEffort";
  const isGuaranteed = countedAmounts.every(
    ([cpuRequest, cpuLimit, memoryRequest, memoryLimit]) =>
      cpuLimit !== 0n && memoryLimit !== 0n && cpuRequest === cpuLimit && memoryRequest === memoryLimit,
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

/** Returns whether all containers set the CPU request, CPU limit, memory request and memory limit. */
export function oracleSetAmounts(pod: object): readonly boolean[] {
  const { spec } = pod as { readonly spec: Spec };
  const countedAmounts = [...spec.containers, ...(spec.initContainers ?? [])].map(amountsOf);
  return [0, 1, 2, 3].map((at) => countedAmounts.every((amounts) => (amounts[at] ?? 0n) > 0n));
}

function amountsOf(object: WithResources): readonly bigint[] {
  const { requests, limits } = object.resources ?? {};
  return ["cpu", "memory"].flatMap((name) => {
    const limit = parseMilli(limits?.[name]);
    return [requests?.[name] === undefined ? limit : parseMilli(requests[name]), limit];
  });
}

function parseMilli(text: string | undefined): bigint {
  const match = /^(\d+)(?:\.(\d))?(m|Mi|Gi|)$/.exec(text ?? "0");
  if (match === null) throw new Error(`the generator wrote an amount the oracle cannot read: ${text}`);
  const unit = MILLI[match[3] ?? ""] ?? 0n;
  return BigInt(match[1] ?? "0") * unit + (BigInt(match[2] ?? "0") * unit) / 10n;
}
