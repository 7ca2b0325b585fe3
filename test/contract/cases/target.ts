import type { Kube } from '../../../src/kubernetes/api/kube.ts';

/** A server under test, with admin rights, and a namespace that this case has to itself. */
export interface ContractTarget {
  readonly kube: Kube;
  /** Exists, is empty, and is named so that it can also prefix the names of cluster-scoped objects. */
  readonly namespace: string;
  /** Waits on the clock that the server lives by. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** One rule of the API, checked the same way on every server. Throws when the server breaks it. */
export interface ContractCase {
  readonly name: string;
  readonly run: (target: ContractTarget) => Promise<void>;
}

/** Cases of one topic, their names prefixed with it. */
export const topic = (name: string, cases: Readonly<Record<string, ContractCase['run']>>): readonly ContractCase[] =>
  Object.entries(cases).map(([rule, run]) => ({ name: `${name}: ${rule}`, run }));
