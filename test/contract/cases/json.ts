/** A condition, container, taint...: the fields that the suite reads in list items of a spec or status. */
export interface JsonItem extends Readonly<Record<string, unknown>> {
  readonly type: string;
  readonly status: string;
  readonly name: string;
  readonly key: string;
  readonly image: string;
}

interface JsonMeta extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp: string;
  readonly finalizers: readonly string[];
  readonly managedFields: readonly { readonly time: string; readonly fieldsV1: object }[];
  /** Set only on a list. */
  readonly continue?: string;
}

interface JsonSpec extends Readonly<Record<string, unknown>> {
  readonly replicas: number;
  readonly taints: readonly JsonItem[];
  readonly wheel: { readonly count: number };
  readonly template: { readonly spec: { readonly containers: readonly JsonItem[] } };
}

interface JsonStatus extends Readonly<Record<string, unknown>> {
  readonly conditions: readonly JsonItem[];
}

/**
 * The body of a response: any object, list, Status or discovery document. The types are unchecked, they only state what a case expects:
 * a case that reads inside an absent field fails.
 */
export interface Json extends Readonly<Record<string, unknown>> {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: JsonMeta;
  readonly spec: JsonSpec;
  readonly status: JsonStatus;
  readonly items: readonly Json[];
  /** Fields of a Status. */
  readonly message: string;
  readonly reason: string;
  readonly details?: { readonly causes?: readonly { readonly reason: string; readonly field: string }[] };
  /** Fields of discovery documents. */
  readonly name: string;
  readonly groups: readonly Json[];
  readonly resources: readonly Json[];
}

/** Parses `text`. Returns an empty object if it is not JSON. */
export const parseJson = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {} as Json;
  }
};
