import type { Kube } from '../../../src/kubernetes/api/kube.ts';

/** A server under test, with admin rights, and a namespace for this case alone. */
export interface ContractTarget {
  readonly kube: Kube;
  /** An empty namespace. Its name may also prefix the names of cluster-scoped objects. */
  readonly namespace: string;
}

/** One rule of the API, checked the same way on every server. Throws when the server breaks it. */
export interface ContractCase {
  readonly name: string;
  readonly run: (target: ContractTarget) => Promise<void>;
}

/** Returns the cases of one topic, with the topic before each name. */
export const topic = (name: string, cases: Readonly<Record<string, ContractCase['run']>>): readonly ContractCase[] =>
  Object.entries(cases).map(([rule, run]) => ({ name: `${name}: ${rule}`, run }));
