import type { CallResult, Call, ListEnvelope, ListParts, ListReading } from '../api/call.ts';
import { isApiError } from '../api/errors.ts';
import type { CallOptions } from '../api/kube.ts';
import { createProtobufListReader } from '../protobuf/index.ts';
import { ResponseError, ResponseTooLargeError } from '../transport/index.ts';
import { createJsonListReader } from './json-list.ts';
import type { BodyReader } from './read-body.ts';
import { weigh } from './weigh.ts';

/** Fetches one page in one exchange, and adds its items to the ListParts. */
export type FetchPage = (
  query: Readonly<Record<string, string>>,
  /** Creates the reader once the content type of the response is known. */
  readerOf: (isProtobuf: boolean) => BodyReader<ListEnvelope>,
) => Promise<CallResult<ListEnvelope>>;

export interface ReadListOptions<T> {
  readonly call: Call<T>;
  readonly list: ListReading<T>;
  /** Maximum size of one item in bytes. */
  readonly itemBytes: number;
}

/** A page that is too large is requested again with its size divided by `shrink`, unless it is `leastPage` or less: a node with many images takes 20 KB. */
const [shrink, leastPage] = [5, 4];

const readerOfPage =
  <T>({ list, itemBytes }: ReadListOptions<T>, parts: ListParts<T>, kept: { bytes: number }) =>
  (isProtobuf: boolean): BodyReader<ListEnvelope> => {
    const { bounds, kind, apiVersion } = list;
    const first = parts.count();
    const added = (item: unknown): void => {
      if (bounds.keptBytes === undefined) return;
      kept.bytes += weigh(item);
      if (kept.bytes <= bounds.keptBytes) return;
      throw new ResponseError(`what is kept of the list takes more than ${String(bounds.keptBytes)} bytes`);
    };
    const check = (): void => {
      const count = parts.count();
      if (count - first >= bounds.pageItems) {
        throw new ResponseError(`a page of more than ${String(bounds.pageItems)} items`);
      }
      if (count >= bounds.items) throw new ResponseError(`a list of more than ${String(bounds.items)} items`);
    };
    if (!isProtobuf) {
      const reader = createJsonListReader({
        kind,
        itemBytes,
        item: (json) => {
          check();
          added(parts.addJson(json));
        },
      });
      return { limitBytes: bounds.jsonBytes, ...reader };
    }
    const reader = createProtobufListReader({
      kind,
      apiVersion,
      fieldBytes: itemBytes,
      item: (cursor, end) => {
        check();
        added(parts.addProtobuf(cursor, end));
      },
    });
    return { limitBytes: bounds.protobufBytes, ...reader, finish: () => ({ next: reader.finish() }) };
  };

/** Fetches a page, and again with a smaller page size if it is too large. */
const fetchShrinking = async <T>(
  options: ReadListOptions<T>,
  at: {
    readonly next: string;
    readonly limit: number | undefined;
    readonly parts: ListParts<T>;
    readonly kept: { bytes: number };
  },
  fetch: FetchPage,
): Promise<{ readonly result: CallResult<ListEnvelope>; readonly limit: number | undefined }> => {
  const { next, limit, parts, kept } = at;
  const count = parts.count();
  const before = kept.bytes;
  const query = {
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(next === '' ? {} : { continue: next }),
  };
  try {
    return { result: await fetch(query, readerOfPage(options, parts, kept)), limit };
  } catch (error) {
    if (!(error instanceof ResponseTooLargeError) || limit === undefined || limit <= leastPage) throw error;
    parts.cut(count);
    kept.bytes = before;
    return fetchShrinking(options, { ...at, limit: Math.floor(limit / shrink) }, fetch);
  }
};

/**
 * Reads a list page by page, up to its limit of items. A page that has a next one counts as full, so that even an endless sequence of empty pages
 * reaches the limit.
 */
const readPages = async <T>(options: ReadListOptions<T>, fetch: FetchPage): Promise<CallResult<T>> => {
  const { list } = options;
  const parts = list.start();
  const kept = { bytes: 0 };
  let limit = list.pageSize;
  let next = '';
  let promised = 0;
  let first: CallResult<ListEnvelope> | undefined;
  for (;;) {
    const page = await fetchShrinking(options, { next, limit, parts, kept }, fetch);
    const { result } = page;
    ({ limit } = page);
    first ??= result;
    const before = next;
    ({ next } = result.value);
    if (next === '') return { ...first, receivedAt: result.receivedAt, value: parts.all(first.value) };
    if (next === before) throw new ResponseError('a page has the token of the page just read as its next');
    if (limit === undefined) throw new ResponseError('a `continue` token in a list that was requested without pages');
    promised += limit;
    if (Math.max(promised, parts.count()) >= list.bounds.items) {
      throw new ResponseError(`a list of more than ${String(list.bounds.items)} items`);
    }
  }
};

/** Reads a list as `readPages` does, and again from the first item if it expires before all is read. */
export const readList = async <T>(options: ReadListOptions<T>, fetch: FetchPage): Promise<CallResult<T>> => {
  try {
    return await readPages(options, fetch);
  } catch (error) {
    if (!isApiError(error, 'Expired')) throw error;
    const { list } = options;
    return readPages(
      list.fullIfExpired === true ? { ...options, list: { ...list, pageSize: undefined } } : options,
      fetch,
    );
  }
};

/** Returns the rest of the whole call's timeout, at least 1 ms, so that a call without time left ends in a Timeout like any other. */
export const timeLeft = ({ timeoutMs }: CallOptions, elapsedMs: number): number | undefined =>
  timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - elapsedMs);
