/** An expression in CEL (https://kubernetes.io/docs/reference/using-api/cel/) and the message of a refused request. */
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

/** What a component may do, in the words of admission policies. */
export interface Policy {
  readonly component: 'prober' | 'weeder';
  readonly resourceRules: readonly ResourceRule[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly Validation[];
}

/** What is quoted so is checked before: names of labels, annotations and users have neither quotes nor backslashes. */
export const quoted = (text: string): string => `'${text}'`;
export const listed = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`;

/** True if two maps differ in `free` at most. */
export const sameBut = (after: string, before: string, free: string): string =>
  [
    `${after}.all(k, k in ${free} || (k in ${before} && ${after}[k] == ${before}[k]))`,
    `${before}.all(k, k in ${free} || k in ${after})`,
  ].join(' && ');
