interface JsonMeta extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly managedFields: readonly { readonly time: string; readonly fieldsV1: object }[];
  /** Set only on a list. */
  readonly continue?: string;
}

interface JsonSpec extends Readonly<Record<string, unknown>> {
  readonly replicas: number;
  readonly wheel: { readonly count: number };
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
  readonly status: Readonly<Record<string, unknown>>;
  readonly items: readonly Json[];
  /** Fields of a Status. */
  readonly message: string;
  readonly reason: string;
  /** Fields of discovery documents. */
  readonly name: string;
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
