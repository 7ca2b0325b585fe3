import type { ListEnvelope } from '../api/call.ts';
import { decodeList, decodeObject, optionalObject, optionalString } from '../api/decode.ts';
import { createByteSink } from '../protobuf/index.ts';
import { ResponseError, notJson, parseJson } from '../transport/index.ts';
import { createJsonPlace, scanJson } from './json-scan.ts';

export interface JsonListOptions {
  /** Kind of the list, such as `NodeList`; undefined: any. */
  readonly kind: string | undefined;
  /** Maximum size of one item in bytes. */
  readonly itemBytes: number;
  readonly item: (json: unknown) => void;
}

export interface JsonListReader {
  /** Reads the next chunk of the body. Throws a ResponseError, and any error of `item`. */
  readonly feed: (chunk: Uint8Array) => void;
  /** Returns the memory that it uses, in bytes. */
  readonly held: () => number;
  /** Ends the body. Throws a ResponseError or a DecodeError. */
  readonly finish: () => ListEnvelope;
}

/** Maximum number of bytes beside the items: the list's metadata, and the commas between the items. */
const mostEnvelopeBytes = 256 * 1024;
const longestToken = 4_096;
/** Replaces an item in the envelope; the spaces separate it from adjacent bytes. */
const placeholder = Buffer.from(' 0 ');
const itemsKey = /"items"\s*:\s*\[$/;
/** Number of bytes at the envelope's end in which the key `items` is searched. */
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
 * Reads a list as it arrives. It finds the items by brackets and quotes alone and parses each by itself; the rest, the envelope, is parsed as a whole at the
 * end, so that together everything has been parsed.
 */
class StreamedJsonList {
  readonly #options: JsonListOptions;
  readonly #place = createJsonPlace();
  readonly #envelope = createByteSink();
  /** The beginning of an item whose end has not arrived yet. */
  readonly #item = createByteSink();
  #in: Part = 'envelope';
  #count = 0;

  constructor(options: JsonListOptions) {
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

  finish(): ListEnvelope {
    const envelope = parseJson(this.#envelope.bytes());
    const found = decodeList((item) => item, this.#options.kind)(envelope);
    // The counts differ if an item was not an object, or if the key `items` occurred twice.
    if (found.length !== this.#count) throw notJson();
    return envelopeOf(envelope);
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
      if (itemsKey.test(tail)) this.#enter('items', 1, 3);
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
    item(parseJson(this.#item.bytes()));
    this.#item.drop(this.#item.length());
    this.#keep(placeholder);
    this.#enter('items', 1, 3);
  }
}

/** Creates a reader for a list in JSON as the API server sends it, chunk by chunk. */
export const createJsonListReader = (options: JsonListOptions): JsonListReader => {
  const list = new StreamedJsonList(options);
  return { feed: (chunk) => list.feed(chunk), held: () => list.held(), finish: () => list.finish() };
};
