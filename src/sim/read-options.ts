import { type FieldSelector, parseFieldSelector } from './field-selector.ts';
import type { SimKind } from './kind.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { SimObject } from './object.ts';
import { badRequest, invalid, StatusError } from './status.ts';
import type { StatusCause } from './cause.ts';

export type Query = Readonly<Record<string, string>>;

export interface Selection {
  readonly matches: (object: SimObject) => boolean;
  /** The one name that can match, if the field selector says so. */
  readonly name?: string;
  /** Everything matches. */
  readonly all: boolean;
}

export interface ListOptions {
  readonly selection: Selection;
  /** Undefined: the latest; 0: any. */
  readonly resourceVersion: number | undefined;
  readonly match: 'Exact' | 'NotOlderThan' | undefined;
  /** 0: no limit. */
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number | undefined;
  readonly bookmarks: boolean;
  /** Of a watch: begin with the present objects. Undefined: as the version says. */
  readonly sendInitialEvents: boolean | undefined;
}

const everything: Selection = { matches: () => true, all: true };

const selectionOf = (kind: SimKind, query: Query): Selection => {
  const { labelSelector = '', fieldSelector = '' } = query;
  if (labelSelector === '' && fieldSelector === '') return everything;
  const byLabels = parseLabelSelector(labelSelector);
  const byFields: FieldSelector = parseFieldSelector(kind, fieldSelector);
  return {
    matches: (object) => byLabels(object.metadata.labels ?? {}) && byFields.matches(object),
    all: false,
    ...(byFields.name === undefined ? {} : { name: byFields.name }),
  };
};

/** Undefined for "" (absent). Throws a StatusError for what is no number: BadRequest, or 500 for watches. */
export const parseResourceVersion = (text: string | undefined, watch = false): number | undefined => {
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const message = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`;
  throw watch ? new StatusError({ code: 500, message }) : badRequest(`invalid resource version: ${message}`);
};

const wholeNumber = (query: Query, name: string): number | undefined => {
  const text = query[name];
  if (text === undefined || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
};

const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1';

const listOptionsKind = { group: 'meta.k8s.io', kind: 'ListOptions' } as SimKind;

const refuse = (message: string, field = 'resourceVersionMatch'): Error => {
  const cause: StatusCause = { reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field };
  return invalid(listOptionsKind, '', [cause]);
};

const notSupported = (value: string, supported: string): Error => {
  const message = `Unsupported value: "${value}": supported values: ${supported}`;
  return invalid(listOptionsKind, '', [{ reason: 'FieldValueNotSupported', message, field: 'resourceVersionMatch' }]);
};

const checkWatchMatch = (query: Query): void => {
  const { resourceVersionMatch = '', sendInitialEvents } = query;
  if (sendInitialEvents !== undefined && resourceVersionMatch !== 'NotOlderThan') {
    throw refuse('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (resourceVersionMatch !== '' && sendInitialEvents === undefined) {
    throw refuse('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  }
};

/** ValidateListOptions in k8s.io/apimachinery/pkg/apis/meta/internalversion/validation, one problem at a time. */
const listMatch = (query: Query): ListOptions['match'] => {
  const { resourceVersionMatch = '', resourceVersion = '', sendInitialEvents } = query;
  if (sendInitialEvents !== undefined) throw refuse('sendInitialEvents is forbidden for list', 'sendInitialEvents');
  if (resourceVersionMatch === '') return undefined;
  if (resourceVersion === '') throw refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if ((query.continue ?? '') !== '') throw refuse('resourceVersionMatch is forbidden when continue is provided');
  if (resourceVersionMatch !== 'Exact' && resourceVersionMatch !== 'NotOlderThan') {
    throw notSupported(resourceVersionMatch, '"Exact", "NotOlderThan", ""');
  }
  if (resourceVersionMatch === 'Exact' && resourceVersion === '0') {
    throw refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  return resourceVersionMatch;
};

const matchOf = (query: Query, watch: boolean): ListOptions['match'] => {
  if (!watch) return listMatch(query);
  checkWatchMatch(query);
  return undefined;
};

/** Throws a StatusError for options that the API server refuses. */
export const listOptions = (kind: SimKind, query: Query): ListOptions => {
  const watch = isTrue(query.watch);
  return {
    selection: selectionOf(kind, query),
    match: matchOf(query, watch),
    resourceVersion: parseResourceVersion(query.resourceVersion, watch),
    limit: Math.max(0, wholeNumber(query, 'limit') ?? 0),
    continue: query.continue ?? '',
    timeoutSeconds: wholeNumber(query, 'timeoutSeconds'),
    bookmarks: isTrue(query.allowWatchBookmarks),
    sendInitialEvents: query.sendInitialEvents === undefined ? undefined : isTrue(query.sendInitialEvents),
  };
};

/** Throws an Invalid StatusError: what would be done in spite of it is better refused. */
export const refuseUnsimulated = (query: Query): void => {
  if (query.dryRun === undefined) return;
  const message = 'the simulated API server knows no dry runs';
  throw new StatusError({ code: 422, reason: 'Invalid', message });
};

export const isWatch = (query: Query): boolean => isTrue(query.watch);
