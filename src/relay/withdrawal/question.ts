/** Reads and checks the body of a withdrawal question; a Pod may send anything. Pure. */
import { isIP } from "node:net";
import { isDnsLabel } from "../../contract/outside-text.ts";
import type { WithdrawalQuestion } from "../../contract/relay-wire.ts";
import { isRawObject, listAt, valueAt } from "../../kubernetes/raw-json.ts";

/** `message` names the place, the value and what would be right. */
type ReadQuestion =
  | { readonly ok: true; readonly question: WithdrawalQuestion }
  | { readonly ok: false; readonly message: string };

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);
const RULES = [
  { field: "namespace", isRight: isDnsLabel, right: "the name of a namespace" },
  { field: "pod", isRight: matches(/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/), right: "the name of a Pod" },
  { field: "uid", isRight: matches(/^[-A-Za-z0-9]{1,64}$/), right: "the uid of a Pod" },
] as const;

const FORM = "a question is an object with namespace, pod, uid and addresses.";
const wrong = (message: string): ReadQuestion => ({ ok: false, message });

/** Unknown fields are ignored: a later manager may send more. */
export function readQuestion(body: string): ReadQuestion {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return wrong(`The body is not JSON; ${FORM}`);
  }
  if (!isRawObject(value)) return wrong(`The body is ${shown(value)}; ${FORM}`);
  for (const { field, isRight, right } of RULES) {
    const text = valueAt(value, field);
    if (typeof text !== "string" || !isRight(text)) return wrong(`${field} is ${shown(text)}; it must be ${right}.`);
  }
  const problem = addressProblem(valueAt(value, "addresses"));
  if (problem !== "") return wrong(problem);
  const [namespace = "", pod = "", uid = ""] = RULES.map(({ field }) => String(valueAt(value, field)));
  return { ok: true, question: { namespace, pod, uid, addresses: listAt(value, "addresses").map(String) } };
}

/** Empty when there is none. An empty list is right: the uid alone finds nearly every entry. */
function addressProblem(addresses: unknown): string {
  if (!Array.isArray(addresses) || addresses.length > 2)
    return `addresses is ${shown(addresses)}; it must be a list with at most one IP address per family.`;
  const families = new Set<number>();
  for (const [index, address] of addresses.entries()) {
    const place = `addresses[${index}] is ${shown(address)}`;
    const family = typeof address === "string" ? isIP(address) : 0;
    if (family === 0) return `${place}; it must be an IP address.`;
    if (families.has(family)) return `${place}, the second of IPv${family}; a Pod has one.`;
    families.add(family);
  }
  return "";
}

const SHOWN_LIMIT = 80;

function shown(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value).slice(0, SHOWN_LIMIT);
}
