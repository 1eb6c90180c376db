/** The QoS class, computed independently of the source: from the rules, in integers. */

type Amounts = Readonly<Record<string, string>> | null | undefined;
type Holder = { readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts } | null };
type Spec = Holder & { readonly containers: readonly Holder[]; readonly initContainers?: readonly Holder[] | null };

const MILLI: Readonly<Record<string, bigint>> = { m: 1n, "": 1000n, Mi: 1000n * 1024n ** 2n, Gi: 1000n * 1024n ** 3n };

export function oracleQos(pod: object): "Guaranteed" | "Burstable" | "BestEffort" {
  const { spec } = pod as { readonly spec: Spec };
  const own = amountsOf(spec);
  const holders = own.some((amount) => amount > 0n)
    ? [own]
    : [...spec.containers, ...(spec.initContainers ?? [])].map(amountsOf);
  if (holders.flat().every((amount) => amount === 0n)) return "BestEffort";
  const guaranteed = holders.every(
    ([cpuRequest, cpuLimit, memoryRequest, memoryLimit]) =>
      cpuLimit !== 0n && memoryLimit !== 0n && cpuRequest === cpuLimit && memoryRequest === memoryLimit,
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}

/** Reports which amounts all containers name: CPU request and limit, memory request and limit. */
export function oracleNamed(pod: object): readonly boolean[] {
  const { spec } = pod as { readonly spec: Spec };
  const holders = [...spec.containers, ...(spec.initContainers ?? [])].map(amountsOf);
  return [0, 1, 2, 3].map((at) => holders.every((amounts) => (amounts[at] ?? 0n) > 0n));
}

function amountsOf(holder: Holder): readonly bigint[] {
  const { requests, limits } = holder.resources ?? {};
  return ["cpu", "memory"].flatMap((name) => {
    const limit = milli(limits?.[name]);
    return [requests?.[name] === undefined ? limit : milli(requests[name]), limit];
  });
}

function milli(text: string | undefined): bigint {
  const match = /^(\d+)(?:\.(\d))?(m|Mi|Gi|)$/.exec(text ?? "0");
  if (match === null) throw new Error(`the generator wrote an amount the oracle cannot read: ${text}`);
  const unit = MILLI[match[3] ?? ""] ?? 0n;
  return BigInt(match[1] ?? "0") * unit + (BigInt(match[2] ?? "0") * unit) / 10n;
}
