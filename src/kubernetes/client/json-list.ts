import { type JsonObject, decodeObject, listItems, optionalObject, optionalString } from '../api/decode.ts';
import { ResponseError } from '../api/errors.ts';
import { createByteSink } from '../protobuf/index.ts';
import { notJson, parseJson } from '../transport/index.ts';
import { createJsonScan } from './json-scan.ts';
import type { BodyReader } from './read-body.ts';

/** What a page of a list says beside its items. */
export interface ListPage {
  /** Token of the next page, empty on the last one. */
  readonly next: string;
  /** The page without its items; absent if it was read from protobuf. */
  readonly json?: JsonObject;
}

export interface JsonListOptions {
  /** Field that holds the items. Default `items`. */
  readonly key?: string;
  /** Kind of the list, such as `NodeList`. Absent: any. */
  readonly kind?: string;
  /** Maximum size of the page and of one item in bytes. */
  readonly limitBytes: number;
  readonly itemBytes: number;
  /** Called with each item, which must be an object. */
  readonly item: (json: unknown) => void;
}

/** Maximum number of bytes beside the items: the list's metadata, and the commas between the items. */
const mostEnvelopeBytes = 256 * 1024;
const longestToken = 4_096;
/** Replaces an item in the envelope; the spaces separate it from adjacent bytes. */
const placeholder = Buffer.from(' 0 ');
const lastKey = /"(\w+)"\s*:\s*\[$/;
/** Number of bytes at the envelope's end in which the key of a list is searched. */
const tailBytes = 32;

/** Returns the token of the next page, empty on the last one. Throws a ResponseError or a DecodeError. */
export const nextToken = (list: JsonObject): string => {
  const meta = optionalObject(list.metadata, 'list.metadata') ?? {};
  const token = optionalString(meta.continue, 'list.metadata.continue') ?? '';
  if (token.length > longestToken) throw new ResponseError('the token of the next page is too long');
  return token;
};

/**
 * Reads a list in JSON as it arrives, item by item. It finds the items by brackets and quotes alone and parses each by itself; the rest, the envelope, is parsed
 * as a whole at the end, so that together everything has been parsed. Throws a ResponseError, a DecodeError, and any error of `item`.
 */
export class JsonListReader implements BodyReader<ListPage> {
  readonly limitBytes: number;
  readonly #options: JsonListOptions;
  readonly #key: string;
  readonly #scan = createJsonScan((at, before, after) => this.#bracket(at, before, after));
  readonly #envelope = createByteSink();
  /** The beginning of an item whose end has not arrived yet. */
  readonly #item = createByteSink();
  #count = 0;
  #isInList = false;
  #isInItem = false;
  #chunk: Uint8Array = Buffer.alloc(0);
  /** Index in the chunk of the first byte that was not read. */
  #from = 0;

  constructor(options: JsonListOptions) {
    this.limitBytes = options.limitBytes;
    this.#options = options;
    this.#key = options.key ?? 'items';
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

  finish(): ListPage {
    const json = decodeObject(parseJson(this.#envelope.bytes()), 'the answer');
    // The counts differ if an item was not an object, or if the key occurred twice.
    if (listItems(json, this.#key, this.#options.kind).length !== this.#count) throw notJson();
    return { next: nextToken(json), json };
  }

  #bracket(at: number, before: number, after: number): void {
    if (before === 1 && after === 2) {
      this.#readTo(at + 1);
      const tail = Buffer.from(this.#envelope.bytes().subarray(-tailBytes)).toString('latin1');
      this.#isInList = lastKey.exec(tail)?.[1] === this.#key;
    } else if (!this.#isInList) return;
    else if (before === 2 && after === 3) {
      this.#readTo(at);
      this.#isInItem = true;
    } else if (before === 3 && after === 2) {
      this.#readTo(at + 1);
      this.#endItem();
    } else if (after === 1) this.#isInList = false;
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

  #endItem(): void {
    this.#isInItem = false;
    this.#count += 1;
    this.#options.item(parseJson(this.#item.bytes()));
    this.#item.drop(this.#item.length());
    this.#keep(placeholder);
  }
}
