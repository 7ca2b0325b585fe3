/** A CEL expression (https://kubernetes.io/docs/reference/using-api/cel/), and the message with which a request is rejected if it is false. */
export interface Validation {
  readonly expression: string;
  readonly message: string;
}

interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly string[];
}

/** Requests that a component may send, in the terms of admission policies. */
export interface Policy {
  readonly component: 'prober' | 'weeder';
  readonly resourceRules: readonly ResourceRule[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly Validation[];
}

/** Quotes a text that needs no escapes: keys and values of labels, annotations and names of users contain neither quotes nor backslashes. */
export const quoted = (text: string): string => `'${text}'`;
export const listed = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`;

/** Returns an expression that is true if two maps differ at most in the keys of `free`. */
export const sameBut = (after: string, before: string, free: string): string =>
  [
    `${after}.all(k, k in ${free} || (k in ${before} && ${after}[k] == ${before}[k]))`,
    `${before}.all(k, k in ${free} || k in ${after})`,
  ].join(' && ');
