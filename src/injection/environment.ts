/** Environment variables of a container. */
import { objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { asWritten, withoutReferences } from "../kubernetes/references.ts";

/** A variable whose value is exactly this text, whatever references it seems to hold. */
export function literal(name: string, value: string): RawObject {
  return { name, value: withoutReferences(value) };
}

/** The text of a {@link literal} among the container's environment variables. */
export function environmentValue(container: RawObject, name: string): string | undefined {
  const entry = objectsAt(container, "env").find((candidate) => candidate["name"] === name);
  const value = textAt(entry, "value");
  return value === undefined ? undefined : asWritten(value);
}

/** A variable whose value kubelet takes from a field of the Pod. */
export function fromField(name: string, fieldPath: string): RawObject {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}
