import { describe, expect, it } from 'vitest';
import { checkBodyFormat, formAccepted, type Offer } from './negotiate.ts';
import { StatusError } from './status.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const metadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

const everything: Offer = { custom: false, protobuf: true };
const plain: Offer = { custom: false, protobuf: false };

const codeOf = (work: () => unknown): number | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof StatusError ? error.status.code : Number.NaN;
  }
};

describe('an Accept header', () => {
  it.each([
    [undefined, everything, 'object'],
    ['', everything, 'object'],
    ['*/*', everything, 'object'],
    [`${protobuf}, */*`, everything, 'protobuf'],
    // As Go clients ask, of kinds that have no protobuf here.
    [`${protobuf}, */*`, plain, 'object'],
    [`${protobuf},application/json`, plain, 'object'],
    [`${table},application/json`, plain, 'object'],
    // As kubectl asks.
    [`${table},${table.replace('v1', 'v1beta1')},application/json`, everything, 'object'],
    [`${table};q=0.5,${metadata}`, everything, 'metadata'],
    [`${table};q=0,application/json`, everything, 'object'],
  ] as const)('%s', (accept, offer, expected) => {
    expect(formAccepted(accept, offer)).toBe(expected);
  });

  it.each([
    [protobuf, plain],
    [table, plain],
    [`${protobuf};as=Table;v=v1;g=meta.k8s.io`, everything],
    ['text/plain', everything],
  ] as const)('%s: 406 where that is not to be had', (accept, offer) => {
    expect(codeOf(() => formAccepted(accept, offer))).toBe(406);
  });
});

describe('a Content-Type', () => {
  it.each([undefined, '', 'Application/JSON; charset=utf-8'])('%s is taken', (contentType) => {
    expect(codeOf(() => checkBodyFormat(contentType))).toBeUndefined();
  });

  it.each(['application/yaml', 'text/plain', protobuf])('%s is 415', (contentType) => {
    expect(codeOf(() => checkBodyFormat(contentType))).toBe(415);
  });
});
