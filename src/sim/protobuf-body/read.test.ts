import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtobufError } from '../../domain/index.ts';
import { simKinds } from '../kinds.ts';
import { protobufEnvelope } from '../kube-protobuf.ts';
import { encodeProtobuf, type ProtobufMessage } from '../protobuf.ts';
import { bodyMessageOf, deleteOptionsMessage, scaleMessage } from './messages.ts';
import { type BodyMessage, openEnvelope, readBody, UnknownFieldError } from './read.ts';

const inner: BodyMessage = { text: [1, 'string'], flag: [2, 'bool', 'kept'] };

const message: BodyMessage = {
  name: [1, 'string'],
  names: [2, 'strings'],
  count: [3, 'integer'],
  limit: [4, 'integer', 'kept'],
  labels: [5, 'stringMap'],
  at: [6, 'time'],
  micro: [7, 'microTime'],
  inner: [8, inner],
  inners: [9, [inner]],
  pointer: [10, inner, 'kept'],
};

/** The same for the encoder, which the answers come from. */
const encoded: ProtobufMessage = {
  name: [1, 'string'],
  names: [2, 'strings'],
  count: [3, 'integer'],
  limit: [4, 'integer'],
  labels: [5, 'stringMap'],
  at: [6, 'time'],
  micro: [7, 'time'],
  inner: [8, { text: [1, 'string'], flag: [2, 'bool'] }],
  inners: [9, [{ text: [1, 'string'], flag: [2, 'bool'] }]],
  pointer: [10, { text: [1, 'string'], flag: [2, 'bool'] }],
};

const bytesOf = (object: Readonly<Record<string, unknown>>): Uint8Array => encodeProtobuf(encoded, object)!;
const read = (object: Readonly<Record<string, unknown>>): unknown => readBody(bytesOf(object), message, ['Thing']);

const filled = fc.string({ minLength: 1 });
const innerObject = fc.record({ text: filled, flag: fc.boolean() }, { requiredKeys: ['text'] });
const time = fc.date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true });

describe('a body in protobuf', () => {
  it('is what its JSON is', () => {
    const object = fc.record(
      {
        name: filled,
        names: fc.array(fc.string(), { minLength: 1 }),
        count: fc.maxSafeInteger().filter((count) => count !== 0),
        limit: fc.integer(),
        labels: fc.dictionary(
          filled.filter((key) => key !== '__proto__'),
          fc.string(),
          { minKeys: 1, noNullPrototype: true },
        ),
        at: time.map((date) => date.toISOString().replace(/\.\d+Z$/, 'Z')),
        micro: time.map((date) => date.toISOString().replace(/Z$/, '042Z')),
        inner: innerObject,
        inners: fc.array(innerObject, { minLength: 1 }),
        pointer: innerObject,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(object, (value) => {
        expect(read(value)).toEqual(value);
      }),
    );
  });

  it('leaves out what is empty, but where that means something', () => {
    const empty = { text: '', flag: false };
    const object = { name: '', count: 0, limit: 0, inner: { text: '' }, pointer: { text: '' }, inners: [empty] };
    expect(read(object)).toEqual({ limit: 0, pointer: {}, inners: [{ flag: false }] });
  });

  it('tells where it has what nobody knows; an empty one does no harm', () => {
    const unknown = { ...message, inners: [9, [{ text: [1, 'string'] }]] } satisfies BodyMessage;
    const parse = (flag: boolean): unknown => readBody(bytesOf({ inners: [{ text: 'a', flag }] }), unknown, ['Thing']);
    expect(parse(false)).toEqual({ inners: [{ text: 'a' }] });
    expect(() => parse(true)).toThrow(UnknownFieldError);
    expect(() => parse(true)).toThrow(
      'the simulator does not know field 2 of Thing.inners in protobuf: send it as JSON',
    );
  });

  it('of any bytes is read or refused, and never ends in another error', () => {
    const kinds = Object.values(simKinds).flatMap((kind) => [bodyMessageOf(kind) ?? {}]);
    for (const known of [message, scaleMessage, deleteOptionsMessage, ...kinds]) {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
          try {
            readBody(bytes, known, ['Thing']);
          } catch (error) {
            expect(error instanceof ProtobufError || error instanceof UnknownFieldError).toBe(true);
          }
        }),
      );
    }
  });

  it('comes in an envelope', () => {
    const raw = bytesOf({ name: 'a' });
    const type = { apiVersion: 'v1', kind: 'Thing' };
    const opened = openEnvelope(protobufEnvelope(type, raw));
    expect(opened).toMatchObject(type);
    expect(Buffer.from(opened.raw)).toEqual(Buffer.from(raw));
    for (const text of ['', 'k8s', 'k8s\0', 'x8s\0abc']) {
      expect(() => openEnvelope(Buffer.from(text))).toThrow(ProtobufError);
    }
  });
});
