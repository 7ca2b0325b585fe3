import { describe, expect, it } from 'vitest';
import { checkBodyFormat, checkPatchFormat, prefersProtobuf } from './negotiate.ts';
import { StatusError } from './status.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';

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
    [undefined, false],
    ['*/*', false],
    [protobuf, true],
    [`${protobuf}, */*`, true],
    [`${protobuf},application/json`, true],
    [`application/json,${protobuf}`, false],
    // As kubectl asks.
    [`${protobuf};as=Table;v=v1;g=meta.k8s.io,application/json`, false],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', false],
  ] as const)('%s', (accept, expected) => {
    expect(prefersProtobuf(accept)).toBe(expected);
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

describe('the Content-Type of a patch', () => {
  it('is that of merge patches', () => {
    expect(codeOf(() => checkPatchFormat('application/merge-patch+json'))).toBeUndefined();
  });

  it.each([undefined, 'application/json', 'application/json-patch+json', 'application/strategic-merge-patch+json'])(
    '%s is 415',
    (contentType) => {
      expect(codeOf(() => checkPatchFormat(contentType))).toBe(415);
    },
  );
});
