/** The body of a withdrawal question to what is asked. Everything a Pod sends may be a lie or nonsense. Pure. */
import { isIP } from "node:net";
import type { WithdrawalQuestion } from "../../contract/relay-wire.ts";
import { isNamespaceName } from "../../kubernetes/names.ts";
import { isRawObject, listAt, type RawObject, valueAt } from "../../kubernetes/raw-json.ts";

type ReadQuestion =
  | { readonly ok: true; readonly question: WithdrawalQuestion }
  /** A sentence that names the place, the value and what would be right. */
  | { readonly ok: false; readonly message: string };

type Rule = {
  readonly field: "namespace" | "pod" | "uid";
  readonly isRight: (text: string) => boolean;
  readonly right: string;
};

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

const RULES: readonly Rule[] = [
  { field: "namespace", isRight: isNamespaceName, right: "the name of a namespace" },
  { field: "pod", isRight: matches(/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/), right: "the name of a Pod" },
  { field: "uid", isRight: matches(/^[-A-Za-z0-9]{1,64}$/), right: "the uid of a Pod" },
];

/** Fields that are not known are passed over: a later manager may say more. */
export function readQuestion(body: string): ReadQuestion {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return {
      ok: false,
      message: "The body is not JSON; a question is an object with namespace, pod, uid and addresses.",
    };
  }
  if (!isRawObject(value))
    return {
      ok: false,
      message: `The body is ${shown(value)}; a question is an object with namespace, pod, uid and addresses.`,
    };
  for (const { field, isRight, right } of RULES) {
    const text = valueAt(value, field);
    if (typeof text !== "string" || !isRight(text))
      return { ok: false, message: `${field} is ${shown(text)}; it must be ${right}.` };
  }
  const wrong = wrongAddresses(value);
  if (wrong !== "") return { ok: false, message: wrong };
  const [namespace = "", pod = "", uid = ""] = RULES.map(({ field }) => String(valueAt(value, field)));
  return { ok: true, question: { namespace, pod, uid, addresses: listAt(value, "addresses").map(String) } };
}

/** Empty when they are right. None at all is right too: the uid alone finds nearly every entry. */
function wrongAddresses(value: RawObject): string {
  const addresses = valueAt(value, "addresses");
  if (!Array.isArray(addresses) || addresses.length > 2)
    return `addresses is ${shown(addresses)}; it must be a list with at most one IP address per family.`;
  const families = new Set<number>();
  for (const [index, address] of addresses.entries()) {
    const family = typeof address === "string" ? isIP(address) : 0;
    if (family === 0) return `addresses[${index}] is ${shown(address)}; it must be an IP address.`;
    if (families.has(family))
      return `addresses[${index}] is ${shown(address)}, the second of IPv${family}; a Pod has one.`;
    families.add(family);
  }
  return "";
}

const SHOWN_LIMIT = 80;

function shown(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value).slice(0, SHOWN_LIMIT);
}
