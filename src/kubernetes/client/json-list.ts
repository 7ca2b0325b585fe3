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
import { createJsonScan } from './json-scan.ts';

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

/**
 * Reads an object in JSON as it arrives, its long lists item by item. It finds the items by brackets and quotes alone and parses each by itself; the rest, the
 * envelope, is parsed as a whole at the end, so that together everything has been parsed.
 */
class StreamedJsonItems {
  readonly #options: JsonItemsOptions;
  readonly #scan = createJsonScan((at, before, after) => this.#bracket(at, before, after));
  readonly #envelope = createByteSink();
  /** The beginning of an item whose end has not arrived yet. */
  readonly #item = createByteSink();
  readonly #counts = new Map<string, number>();
  #count = 0;
  /** The field whose items are read. Undefined: none. */
  #key: string | undefined;
  #isInItem = false;
  #chunk: Uint8Array = Buffer.alloc(0);
  /** Index in the chunk of the first byte that was not read. */
  #from = 0;

  constructor(options: JsonItemsOptions) {
    this.#options = options;
  }

  feed(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#from = 0;
    this.#scan(chunk);
    this.#readTo(chunk.length);
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

  #bracket(at: number, before: number, after: number): void {
    if (before === 1 && after === 2) {
      this.#readTo(at + 1);
      const tail = Buffer.from(this.#envelope.bytes().subarray(-tailBytes)).toString('latin1');
      this.#key = this.#options.keys.find((key) => key === lastKey.exec(tail)?.[1]);
    } else if (this.#key === undefined) return;
    else if (before === 2 && after === 3) {
      this.#readTo(at);
      this.#isInItem = true;
    } else if (before === 3 && after === 2) {
      this.#readTo(at + 1);
      this.#endItem(this.#key);
    } else if (after === 1) this.#key = undefined;
  }

  #readTo(end: number): void {
    const piece = this.#chunk.subarray(this.#from, end);
    this.#from = end;
    if (!this.#isInItem) {
      this.#keep(piece);
      return;
    }
    const { itemBytes } = this.#options;
    this.#item.append(piece);
    if (this.#item.length() > itemBytes) throw new ResponseError(`an item of more than ${String(itemBytes)} bytes`);
  }

  #keep(piece: Uint8Array): void {
    this.#envelope.append(piece);
    if (this.#envelope.length() - this.#count * placeholder.length > mostEnvelopeBytes) {
      throw new ResponseError(`more than ${String(mostEnvelopeBytes)} bytes beside the items`);
    }
  }

  #endItem(key: string): void {
    this.#isInItem = false;
    this.#count += 1;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#options.item(parseJson(this.#item.bytes()), key);
    this.#item.drop(this.#item.length());
    this.#keep(placeholder);
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
