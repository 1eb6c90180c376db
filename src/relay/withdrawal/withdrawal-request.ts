/** Reads and validates the body of a withdrawal request, which is untrusted input. Pure. */
import { isIP } from "node:net";
import type { WithdrawalRequest } from "../../contract/relay-wire.ts";
import { isDnsLabel } from "../../contract/untrusted-text.ts";
import { isRawObject, listAt, valueAt } from "../../kubernetes/raw-json.ts";

type RequestReading =
  | { readonly ok: true; readonly request: WithdrawalRequest }
  | { readonly ok: false; readonly message: string };

const matchesPattern = (pattern: RegExp) => (text: string) => pattern.test(text);
const FIELD_RULES = [
  { field: "namespace", isValid: isDnsLabel, expected: "the name of a namespace" },
  { field: "pod", isValid: matchesPattern(/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/), expected: "the name of a Pod" },
  { field: "uid", isValid: matchesPattern(/^[-A-Za-z0-9]{1,64}$/), expected: "the uid of a Pod" },
] as const;

const EXPECTED_BODY = "expected an object with namespace, pod, uid and addresses.";
const invalidReading = (message: string): RequestReading => ({ ok: false, message });

/** Unknown fields are ignored: a later manager may send more. */
export function readWithdrawalRequest(body: string): RequestReading {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return invalidReading(`The body is not JSON; ${EXPECTED_BODY}`);
  }
  if (!isRawObject(value)) return invalidReading(`The body is ${displayValue(value)}; ${EXPECTED_BODY}`);
  for (const { field, isValid, expected } of FIELD_RULES) {
    const text = valueAt(value, field);
    if (typeof text !== "string" || !isValid(text))
      return invalidReading(`${field} is ${displayValue(text)}, expected ${expected}.`);
  }
  const problem = addressProblem(valueAt(value, "addresses"));
  if (problem !== "") return invalidReading(problem);
  const [namespace = "", pod = "", uid = ""] = FIELD_RULES.map(({ field }) => String(valueAt(value, field)));
  return { ok: true, request: { namespace, pod, uid, addresses: listAt(value, "addresses").map(String) } };
}

/** @returns empty for valid addresses. An empty list is valid: the uid alone finds nearly every endpoint. */
function addressProblem(addresses: unknown): string {
  if (!Array.isArray(addresses) || addresses.length > 2)
    return `addresses is ${displayValue(addresses)}, expected a list with at most one IP address per family.`;
  const families = new Set<number>();
  for (const [index, address] of addresses.entries()) {
    const place = `addresses[${index}] is ${displayValue(address)}`;
    const family = typeof address === "string" ? isIP(address) : 0;
    if (family === 0) return `${place}, expected an IP address.`;
    if (families.has(family))
      return `${place}, a second IPv${family} address; a Pod has at most one per address family.`;
    families.add(family);
  }
  return "";
}

const DISPLAY_LIMIT = 80;

function displayValue(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value).slice(0, DISPLAY_LIMIT);
}
