import type { CallResult, ListReading } from '../api/call.ts';
import { ResponseError, isApiError } from '../api/errors.ts';
import { ProtobufListReader } from '../protobuf/index.ts';
import { ResponseTooLargeError } from '../transport/index.ts';
import { JsonListReader, type ListPage } from './json-list.ts';
import type { BodyReader } from './read-body.ts';

/** Fetches one page in one exchange. */
export type FetchPage = (
  query: Readonly<Record<string, string>>,
  /** Creates the reader once the content type of the response is known. */
  readerOf: (isProtobuf: boolean) => BodyReader<ListPage>,
) => Promise<CallResult<ListPage>>;

/** What is kept of the items that were read, and about how much memory it takes. */
interface Kept {
  readonly items: unknown[];
  bytes: number;
}

/** A page that is too large is requested again with its size divided by `shrink`, unless it is `leastPage` or less: a node with many images takes 20 KB. */
const [shrink, leastPage] = [5, 4];

/** Approximate bytes that V8 uses for an object, a set or a list, and for each entry. */
const [bytesOfHolder, bytesOfEntry] = [64, 32];

/** V8 uses two bytes per character if any of them is beyond Latin-1, else one. */
const textBytes = (text: string): number => (/[^\u0000-\u00ff]/.test(text) ? 2 : 1) * text.length;

/** Estimates the bytes of memory that a projection uses: plain objects, lists, sets and strings. */
const weigh = (value: unknown): number => {
  if (typeof value === 'string') return bytesOfEntry + textBytes(value);
  if (typeof value !== 'object' || value === null) return bytesOfEntry;
  const entries =
    value instanceof Set || Array.isArray(value) ? [...(value as Iterable<unknown>)] : Object.values(value);
  return entries.reduce<number>((sum, entry) => sum + weigh(entry), bytesOfHolder);
};

const readerOfPage =
  <T>(list: ListReading<T>, objectBytes: number, kept: Kept) =>
  (isProtobuf: boolean): BodyReader<ListPage> => {
    const { bounds, key = 'items', kind, apiVersion, item, protobufItem } = list;
    const { itemBytes = objectBytes } = bounds;
    const first = kept.items.length;
    const path = (): string => `${key}[${String(kept.items.length)}]`;
    const check = (): void => {
      const { length } = kept.items;
      if (length - first >= bounds.pageItems) {
        throw new ResponseError(`a page of more than ${String(bounds.pageItems)} items`);
      }
      if (length >= bounds.items) throw new ResponseError(`a list of more than ${String(bounds.items)} items`);
    };
    const keep = (value: unknown): void => {
      kept.items.push(value);
      if (bounds.keptBytes === undefined) return;
      kept.bytes += weigh(value);
      if (kept.bytes <= bounds.keptBytes) return;
      throw new ResponseError(`what is kept of the list takes more than ${String(bounds.keptBytes)} bytes`);
    };
    if (!isProtobuf || protobufItem === undefined) {
      return new JsonListReader({
        ...{ key, kind, limitBytes: bounds.jsonBytes, itemBytes },
        item: (json) => {
          check();
          keep(item(json, path()));
        },
      });
    }
    return new ProtobufListReader({
      ...{ apiVersion, kind, limitBytes: bounds.protobufBytes, fieldBytes: itemBytes },
      item: (cursor, end) => {
        check();
        keep(protobufItem(cursor, end, path));
      },
    });
  };

/** Reads a list. `objectBytes` is the maximum size of an item, unless the list sets its own. */
class ListRead<T> {
  readonly #list: ListReading<T>;
  readonly #objectBytes: number;
  readonly #fetch: FetchPage;
  readonly #kept: Kept = { items: [], bytes: 0 };
  #limit: number | undefined;

  constructor(list: ListReading<T>, objectBytes: number, fetch: FetchPage) {
    this.#list = list;
    this.#objectBytes = objectBytes;
    this.#fetch = fetch;
    this.#limit = list.pageSize;
  }

  /**
   * Reads page by page, up to the limit of items. A page that has a next one counts as full, so that even an endless sequence of empty pages reaches the
   * limit.
   */
  async read(): Promise<CallResult<T>> {
    const { bounds, all } = this.#list;
    const { items } = this.#kept;
    const first = await this.#page('');
    let last = first;
    let promised = 0;
    for (let { next } = first.value; next !== ''; { next } = last.value) {
      if (this.#limit === undefined) {
        throw new ResponseError('a `continue` token in a list that was requested without pages');
      }
      promised += this.#limit;
      if (Math.max(promised, items.length) >= bounds.items) {
        throw new ResponseError(`a list of more than ${String(bounds.items)} items`);
      }
      last = await this.#page(next);
      if (last.value.next === next) throw new ResponseError('a page has the token of the page just read as its next');
    }
    return { ...first, receivedAt: last.receivedAt, value: all(items, first.value.json) };
  }

  /** Fetches a page, and again with a smaller page size if it is too large. */
  async #page(next: string): Promise<CallResult<ListPage>> {
    const kept = this.#kept;
    const limit = this.#limit;
    const [count, { bytes }] = [kept.items.length, kept];
    const query = {
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(next === '' ? {} : { continue: next }),
    };
    try {
      return await this.#fetch(query, readerOfPage(this.#list, this.#objectBytes, kept));
    } catch (error) {
      if (!(error instanceof ResponseTooLargeError) || limit === undefined || limit <= leastPage) throw error;
      kept.items.length = count;
      kept.bytes = bytes;
      this.#limit = Math.floor(limit / shrink);
      return this.#page(next);
    }
  }
}

/** Reads a list page by page, and again from the first item if it expires before all is read. */
export const readList = async <T>(
  list: ListReading<T>,
  objectBytes: number,
  fetch: FetchPage,
): Promise<CallResult<T>> => {
  try {
    return await new ListRead(list, objectBytes, fetch).read();
  } catch (error) {
    if (!isApiError(error, 'Expired')) throw error;
    const again = list.fullIfExpired === true ? { ...list, pageSize: undefined } : list;
    return new ListRead(again, objectBytes, fetch).read();
  }
};
