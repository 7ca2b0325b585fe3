import type { Call } from '../api/call.ts';
import { decodeObject, optionalList, optionalString } from '../api/decode.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import { type CallContext, performCall } from '../client/index.ts';

const pageTimeoutMs = 60_000;
/** Far more objects than a seed has of any kind; a longer list would probably never end. */
const mostItems = 100_000;

export interface ListPage {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** Token of the next page, empty on the last one. */
  readonly next: string;
  /** Kind of the items. */
  readonly kind: string | undefined;
}

/** Items of custom resources have a kind. Items of built-in lists have none: it follows from the list's kind. */
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
  /** Called when reading starts from the first item, which may happen twice. Returns the function that receives the items. */
  readonly begin: () => (item: unknown) => void;
}

export interface Listed {
  readonly resourceVersion: string;
  readonly kind: string | undefined;
}

/**
 * Reads all pages. The resourceVersion of the first one is where the watch starts: all pages show the same state, unless the server restarted the list.
 * A page that has a next one counts as full, so that even an endless sequence of empty pages reaches the limit.
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
    if (pageSize === undefined) throw malformed('a `continue` token in a list that was requested without pages');
    if (page.next === next) throw malformed('a page has the token of the page just read as its next');
    next = page.next;
    promised += Math.max(page.items.length, pageSize);
    if (promised >= mostItems) throw malformed(`a list of more than ${String(mostItems)} items`);
  }
  if (first.resourceVersion === '') throw malformed('the list has no resourceVersion');
  return { resourceVersion: first.resourceVersion, kind: first.kind };
};

/**
 * Lists page by page, as a consistent read. If the pages expire before all are read, lists once more without pages (client-go
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
