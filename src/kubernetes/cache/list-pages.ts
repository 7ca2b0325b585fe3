import type { Call } from '../api/call.ts';
import { decodeObject, optionalList, optionalString } from '../api/decode.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import { type CallContext, performCall } from '../client/index.ts';

const pageTimeoutMs = 60_000;
/** Far more than a seed has of anything; a list that goes on beyond is one that would not end. */
const mostItems = 100_000;

export interface ListPage {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** Token of the next page, empty on the last one. */
  readonly next: string;
  /** Kind of the items. */
  readonly kind: string | undefined;
}

/** Items of custom resources say their kind; those of built-in lists do not, but there the list's kind does. */
const kindOf = (listKind: string | undefined, first: unknown): string | undefined => {
  const kind = first === undefined ? undefined : optionalString(decodeObject(first, 'items[0]').kind, 'items[0].kind');
  return kind ?? (listKind?.endsWith('List') === true ? listKind.slice(0, -'List'.length) : undefined);
};

const decodePage = (json: unknown): ListPage => {
  const list = decodeObject(json, 'list');
  const meta = decodeObject(list.metadata, 'list.metadata');
  const items = optionalList(list.items, 'items') ?? [];
  return {
    items,
    resourceVersion: optionalString(meta.resourceVersion, 'list.metadata.resourceVersion') ?? '',
    next: optionalString(meta.continue, 'list.metadata.continue') ?? '',
    kind: kindOf(optionalString(list.kind, 'list.kind'), items[0]),
  };
};

export interface PagedListOptions {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly pageSize: number;
  readonly signal: AbortSignal;
  readonly context: CallContext;
  /** Called when reading starts from the first item, which may happen twice. Returns what takes the items. */
  readonly begin: () => (item: unknown) => void;
}

export interface Listed {
  readonly resourceVersion: string;
  readonly kind: string | undefined;
}

/**
 * Only the first page says where the watch goes on: all pages are of one moment, unless the server started over. A page with another one behind it counts as a full
 * one, so that pages without items come to an end, too.
 */
const readPages = async (options: PagedListOptions, pageSize: number | undefined): Promise<Listed> => {
  const { path, signal, context } = options;
  const take = options.begin();
  const malformed = (problem: string): ApiError =>
    new ApiError({ code: 'MalformedResponse', message: `GET ${path}: ${problem}` });
  let first: ListPage | undefined;
  let next = '';
  let promised = 0;
  for (;;) {
    const call: Call<ListPage> = {
      method: 'GET',
      path,
      query: {
        ...options.query,
        ...(pageSize === undefined ? {} : { limit: String(pageSize) }),
        ...(next === '' ? {} : { continue: next }),
      },
      decode: decodePage,
    };
    const { value: page } = await performCall(call, { signal, timeoutMs: pageTimeoutMs }, context);
    first ??= page;
    page.items.forEach(take);
    if (page.next === '') break;
    if (pageSize === undefined) throw malformed('a page of a list that was asked for whole');
    if (page.next === next) throw malformed('a page has the token of the page just read as its next');
    next = page.next;
    promised += Math.max(page.items.length, pageSize);
    if (promised >= mostItems) throw malformed(`a list of more than ${String(mostItems)} items`);
  }
  if (first.resourceVersion === '') throw malformed('the list has no resourceVersion');
  return { resourceVersion: first.resourceVersion, kind: first.kind };
};

/**
 * Lists page by page, in a consistent read. When the pages expire before all are read, lists once more in one piece (client-go
 * `tools/pager`, FullListIfExpired). Rejects with an ApiError.
 */
export const listPages = async (options: PagedListOptions): Promise<Listed> => {
  try {
    return await readPages(options, options.pageSize);
  } catch (error) {
    if (!isApiError(error, 'Expired')) throw error;
    return readPages(options, undefined);
  }
};
