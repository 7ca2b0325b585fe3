import { parseLabelSelector } from './label-selector.ts';
import type { SimObject } from './object.ts';
import { StatusError, badRequest } from './status.ts';

export type Query = Readonly<Record<string, string>>;

export interface Selection {
  readonly matches: (object: SimObject) => boolean;
  /** The only name that can match, if the field selector names one. */
  readonly name?: string;
  /** True if every object matches. */
  readonly all: boolean;
}

export interface StoreListOptions {
  readonly selection: Selection;
  /** Revision after which a watch starts. Undefined or 0: it first sends the current objects. Lists show the current state, or fail if that is older. */
  readonly resourceVersion: number | undefined;
  /** Maximum number of items; 0 means no limit. */
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number | undefined;
  readonly bookmarks: boolean;
}

const everything: Selection = { matches: () => true, all: true };

/** Returns the name in a field selector. Throws a BadRequest StatusError for selectors of other fields. */
const selectedName = (fieldSelector: string): string | undefined => {
  if (fieldSelector === '') return undefined;
  const name = /^metadata\.name==?([^,=]*)$/.exec(fieldSelector)?.[1];
  if (name === undefined) {
    throw badRequest(`the simulated API server knows no field selector but of names: ${fieldSelector}`);
  }
  return name;
};

const selectionOf = ({ labelSelector = '', fieldSelector = '' }: Query): Selection => {
  const name = selectedName(fieldSelector);
  if (labelSelector === '' && name === undefined) return everything;
  const byLabels = parseLabelSelector(labelSelector);
  return {
    matches: ({ metadata }) => (name === undefined || metadata.name === name) && byLabels(metadata.labels ?? {}),
    all: false,
    ...(name === undefined ? {} : { name }),
  };
};

const wholeNumber = (query: Query, name: string): number | undefined => {
  const text = query[name];
  if (text === undefined || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
};

const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1';

export const isWatch = (query: Query): boolean => isTrue(query.watch);

/** Reads the options of a list or watch. Throws a StatusError for options that the API server refuses. */
export const listOptions = (query: Query): StoreListOptions => ({
  selection: selectionOf(query),
  resourceVersion: wholeNumber(query, 'resourceVersion'),
  limit: Math.max(0, wholeNumber(query, 'limit') ?? 0),
  continue: query.continue ?? '',
  timeoutSeconds: wholeNumber(query, 'timeoutSeconds'),
  bookmarks: isTrue(query.allowWatchBookmarks),
});

/** Options that would change the effect of a request. Where a watch with initial events is refused, client-go lists instead. */
const unsimulated = ['dryRun', 'resourceVersionMatch', 'sendInitialEvents'];

/** Throws an Invalid StatusError for an option that the simulation would otherwise ignore silently. The match NotOlderThan is that of every list. */
export const refuseUnsimulated = (query: Query): void => {
  const found = unsimulated.find((name) => query[name] !== undefined && query[name] !== 'NotOlderThan');
  if (found === undefined) return;
  throw new StatusError({ code: 422, reason: 'Invalid', message: `the simulated API server knows no ${found}` });
};
