import type { Answer, Call, ListParts, ListReading } from '../api/call.ts';
import { isApiError } from '../api/errors.ts';
import type { CallOptions } from '../api/kube.ts';
import { createProtobufListReader } from '../protobuf/index.ts';
import { AnswerError, AnswerTooLargeError } from '../transport/index.ts';
import { createJsonListReader } from './json-list.ts';
import type { BodyReader } from './read-body.ts';
import { weigh } from './weigh.ts';

/** What becomes of a page: its items are in the parts. */
export interface Page {
  /** Token of the next page, empty on the last one. */
  readonly next: string;
}

/** How a page is got: one exchange. */
export type FetchPage = (
  query: Readonly<Record<string, string>>,
  /** Makes the reader of the answer when it is known what it is. */
  readerOf: (isProtobuf: boolean) => BodyReader<Page>,
) => Promise<Answer<Page>>;

export interface ReadListOptions<T> {
  readonly call: Call<T>;
  readonly list: ListReading<T>;
  /** Most bytes of one item. */
  readonly itemBytes: number;
}

/** Pages become so many times smaller when one is too large, down to one of `leastPage`: nodes with many images take 20 KB and more. */
const [shrink, leastPage] = [5, 4];

const readerOfPage =
  <T>({ list, itemBytes }: ReadListOptions<T>, parts: ListParts<T>, kept: { bytes: number }) =>
  (isProtobuf: boolean): BodyReader<Page> => {
    const { bounds, kind, apiVersion } = list;
    const first = parts.count();
    const added = (): void => {
      if (bounds.keptBytes === undefined) return;
      kept.bytes += weigh(parts.last());
      if (kept.bytes <= bounds.keptBytes) return;
      throw new AnswerError(`what is kept of the list takes more than ${String(bounds.keptBytes)} bytes`);
    };
    const check = (): void => {
      const count = parts.count();
      if (count - first >= bounds.pageItems) {
        throw new AnswerError(`a page of more than ${String(bounds.pageItems)} items`);
      }
      if (count >= bounds.items) throw new AnswerError(`a list of more than ${String(bounds.items)} items`);
    };
    const reader = isProtobuf
      ? createProtobufListReader({
          kind,
          apiVersion,
          fieldBytes: itemBytes,
          item: (cursor, end) => {
            check();
            parts.addProtobuf(cursor, end);
            added();
          },
        })
      : createJsonListReader({
          kind,
          itemBytes,
          item: (json) => {
            check();
            parts.addJson(json);
            added();
          },
        });
    const limitBytes = isProtobuf ? bounds.protobufBytes : bounds.jsonBytes;
    return { limitBytes, feed: reader.feed, held: reader.held, finish: () => ({ next: reader.finish() }) };
  };

/** One page, and once more in smaller ones where it is too large. */
const fetchShrinking = async <T>(
  options: ReadListOptions<T>,
  at: {
    readonly next: string;
    readonly limit: number | undefined;
    readonly parts: ListParts<T>;
    readonly kept: { bytes: number };
  },
  fetch: FetchPage,
): Promise<{ readonly answer: Answer<Page>; readonly limit: number | undefined }> => {
  const { next, limit, parts, kept } = at;
  const count = parts.count();
  const before = kept.bytes;
  const query = {
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(next === '' ? {} : { continue: next }),
  };
  try {
    return { answer: await fetch(query, readerOfPage(options, parts, kept)), limit };
  } catch (error) {
    if (!(error instanceof AnswerTooLargeError) || limit === undefined || limit <= leastPage) throw error;
    parts.cut(count);
    kept.bytes = before;
    return fetchShrinking(options, { ...at, limit: Math.floor(limit / shrink) }, fetch);
  }
};

/**
 * Reads a list page by page; pages are asked for only as long as there may be more items. A page with another one behind it counts as a full one, so that pages without
 * items come to an end, too.
 */
const readPages = async <T>(options: ReadListOptions<T>, fetch: FetchPage): Promise<Answer<T>> => {
  const { list } = options;
  const parts = list.start();
  const kept = { bytes: 0 };
  let limit = list.pageSize;
  let next = '';
  let promised = 0;
  let first: Answer<Page> | undefined;
  for (;;) {
    const page = await fetchShrinking(options, { next, limit, parts, kept }, fetch);
    const { answer } = page;
    ({ limit } = page);
    first ??= answer;
    ({ next } = answer.value);
    if (next === '') return { ...first, receivedAt: answer.receivedAt, value: parts.all() };
    if (limit === undefined) throw new AnswerError('a page of a list that was asked for whole');
    promised += limit;
    if (Math.max(promised, parts.count()) >= list.bounds.items) {
      throw new AnswerError(`a list of more than ${String(list.bounds.items)} items`);
    }
  }
};

/** As `readPages`; once more from the first page where the token of a later one has expired. */
export const readList = async <T>(options: ReadListOptions<T>, fetch: FetchPage): Promise<Answer<T>> => {
  try {
    return await readPages(options, fetch);
  } catch (error) {
    if (!isApiError(error, 'Expired')) throw error;
    return readPages(options, fetch);
  }
};

/** The rest of the time for the whole call, at least 1 ms: a call without any left ends in a Timeout like any other. */
export const timeLeft = ({ timeoutMs }: CallOptions, elapsedMs: number): { readonly timeoutMs?: number } =>
  timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, timeoutMs - elapsedMs) };
