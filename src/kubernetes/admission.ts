/**
 * The part of `admission.k8s.io/v1` this webhook speaks. The client library has no model for it: the API server
 * posts these objects, it does not serve them. Field names are the JSON names.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#webhook-request-and-response
 */

export type AdmissionReview = {
  readonly apiVersion: "admission.k8s.io/v1";
  readonly kind: "AdmissionReview";
  readonly response: AdmissionResponse;
};

export type AdmissionResponse = {
  readonly uid: string;
  readonly allowed: boolean;
  /** Shown to the person whose request is refused; absent when allowed. */
  readonly status?: { readonly code: number; readonly message: string };
  readonly patchType?: "JSONPatch";
  /** Base64 of the JSON text of the operations. */
  readonly patch?: string;
  /** Printed by kubectl. Keep each under 120 characters; the server may cut longer ones. */
  readonly warnings?: readonly string[];
};
