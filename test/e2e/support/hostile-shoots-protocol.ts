import type { Answers } from '../../envtest/served.ts';

/** Orders of the process that serves the shoots. */
export interface HostileShoots extends Answers {
  readonly ready: { readonly url: string; readonly ca: string };
  /** Requests so far, by path. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Each a way to be hostile; the first segment of a hostile shoot's path. */
export const hostilities = ['tiny-items', 'huge', 'json-leases', 'protobuf-leases', 'deep-or-slow'] as const;

export type Hostility = (typeof hostilities)[number];
