import type { ListEnvelope } from '../api/call.ts';
import {
  type JsonObject,
  decodeList,
  decodeObject,
  optionalList,
  optionalObject,
  optionalString,
} from '../api/decode.ts';
import { createByteSink } from '../protobuf/index.ts';
import { ResponseError, notJson, parseJson } from '../transport/index.ts';
import { createJsonPlace, scanJson } from './json-scan.ts';

export interface JsonItemsOptions {
  /** Fields of the object that are lists to read item by item. */
  readonly keys: readonly string[];
  /** Maximum size of one item in bytes. */
  readonly itemBytes: number;
  /** Called with each item, which must be an object, and with the field. */
  readonly item: (json: unknown, key: string) => void;
}

export interface JsonItemsReader<T> {
  /** Reads the next chunk of the body. Throws a ResponseError, and any error of `item`. */
  readonly feed: (chunk: Uint8Array) => void;
  /** Returns the memory that it uses, in bytes. */
  readonly held: () => number;
  /** Ends the body. Throws a ResponseError or a DecodeError. */
  readonly finish: () => T;
}

/** Maximum number of bytes beside the items: the list's metadata, and the commas between the items. */
const mostEnvelopeBytes = 256 * 1024;
const longestToken = 4_096;
/** Replaces an item in the envelope; the spaces separate it from adjacent bytes. */
const placeholder = Buffer.from(' 0 ');
const lastKey = /"(\w+)"\s*:\s*\[$/;
/** Number of bytes at the envelope's end in which the key of a list is searched. */
const tailBytes = 32;

/** Throws a ResponseError or a DecodeError. */
export const envelopeOf = (json: unknown): ListEnvelope => {
  const list = decodeObject(json, 'list');
  const meta = optionalObject(list.metadata, 'list.metadata') ?? {};
  const next = optionalString(meta.continue, 'list.metadata.continue') ?? '';
  if (next.length > longestToken) throw new ResponseError('the token of the next page is too long');
  return {
    next,
    resourceVersion: optionalString(meta.resourceVersion, 'list.metadata.resourceVersion'),
    kind: optionalString(list.kind, 'list.kind'),
  };
};

type Part = 'envelope' | 'other value' | 'items' | 'item';

/**
 * Reads an object as it arrives, its long lists item by item. It finds the items by brackets and quotes alone and parses each by itself; the rest, the envelope, is parsed as a whole at the
 * end, so that together everything has been parsed.
 */
class StreamedJsonItems {
  readonly #options: JsonItemsOptions;
  readonly #place = createJsonPlace();
  readonly #envelope = createByteSink();
  /** The beginning of an item whose end has not arrived yet. */
  readonly #item = createByteSink();
  #in: Part = 'envelope';
  /** The field whose items are read. */
  #key = '';
  /** Number of items, and by field. */
  #count = 0;
  readonly #counts = new Map<string, number>();

  constructor(options: JsonItemsOptions) {
    this.#options = options;
    this.#place.high = 2;
  }

  feed(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      const at = scanJson(this.#place, chunk, from);
      const piece = chunk.subarray(from, at);
      from = at;
      if (this.#in === 'item') this.#addToItem(piece);
      else if (this.#in === 'items') this.#addBetweenItems(piece);
      else this.#addToEnvelope(piece);
    }
  }

  held(): number {
    return this.#envelope.held() + this.#item.held();
  }

  /** Returns the object with a number in place of each item. */
  finish(): JsonObject {
    const envelope = decodeObject(parseJson(this.#envelope.bytes()), 'the answer');
    for (const key of this.#options.keys) {
      const found = optionalList(envelope[key], key) ?? [];
      // The counts differ if an item was not an object, or if the key occurred twice.
      if (found.length !== (this.#counts.get(key) ?? 0)) throw notJson();
    }
    return envelope;
  }

  #enter(next: Part, low: number, high: number): void {
    this.#in = next;
    this.#place.low = low;
    this.#place.high = high;
  }

  #keep(piece: Uint8Array): void {
    this.#envelope.append(piece);
    if (this.#envelope.length() - this.#count * placeholder.length > mostEnvelopeBytes) {
      throw new ResponseError(`more than ${String(mostEnvelopeBytes)} bytes beside the items`);
    }
  }

  #addToEnvelope(piece: Uint8Array): void {
    this.#keep(piece);
    const { depth, low, high } = this.#place;
    if (depth <= low) this.#enter('envelope', -Infinity, 2);
    else if (depth >= high) {
      const tail = Buffer.from(this.#envelope.bytes().subarray(-tailBytes)).toString('latin1');
      const [, key = ''] = lastKey.exec(tail) ?? [];
      this.#key = key;
      if (this.#options.keys.includes(key)) this.#enter('items', 1, 3);
      else this.#enter('other value', 1, Infinity);
    }
  }

  #addBetweenItems(piece: Uint8Array): void {
    const { depth, low, high } = this.#place;
    if (depth < high) {
      this.#keep(piece);
      if (depth <= low) this.#enter('envelope', -Infinity, 2);
      return;
    }
    const bracket = piece.length - 1;
    this.#keep(piece.subarray(0, bracket));
    this.#enter('item', 2, Infinity);
    this.#item.append(piece.subarray(bracket));
  }

  #addToItem(piece: Uint8Array): void {
    const { itemBytes, item } = this.#options;
    this.#item.append(piece);
    if (this.#item.length() > itemBytes) throw new ResponseError(`an item of more than ${String(itemBytes)} bytes`);
    if (this.#place.depth > 2) return;
    this.#count += 1;
    this.#counts.set(this.#key, (this.#counts.get(this.#key) ?? 0) + 1);
    item(parseJson(this.#item.bytes()), this.#key);
    this.#item.drop(this.#item.length());
    this.#keep(placeholder);
    this.#enter('items', 1, 3);
  }
}

/** Creates a reader for an object in JSON with long lists, chunk by chunk. It returns the object with a number in place of each item. */
export const createJsonItemsReader = (options: JsonItemsOptions): JsonItemsReader<JsonObject> => {
  const object = new StreamedJsonItems(options);
  return { feed: (chunk) => object.feed(chunk), held: () => object.held(), finish: () => object.finish() };
};

export interface JsonListOptions extends Pick<JsonItemsOptions, 'itemBytes'> {
  /** Kind of the list, such as `NodeList`; undefined: any. */
  readonly kind: string | undefined;
  readonly item: (json: unknown) => void;
}

/** Creates a reader for a list in JSON as the API server sends it. */
export const createJsonListReader = ({ kind, ...options }: JsonListOptions): JsonItemsReader<ListEnvelope> => {
  const reader = createJsonItemsReader({ ...options, keys: ['items'] });
  const finish = (): ListEnvelope => {
    const envelope = reader.finish();
    decodeList((item) => item, kind)(envelope);
    return envelopeOf(envelope);
  };
  return { ...reader, finish };
};
