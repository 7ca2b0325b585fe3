import type { Answers } from '../../envtest/served.ts';

/** Orders of the process that serves the shoots. */
export interface HostileShoots extends Answers {
  readonly ready: { readonly url: string; readonly ca: string };
  /** Number of requests so far, by path. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The ways to be hostile. Each is the first segment of a hostile shoot's path. */
export const hostilities = ['tiny-items', 'huge', 'json-leases', 'protobuf-leases', 'deep-or-slow'] as const;

export type Hostility = (typeof hostilities)[number];
