import { describe, expect, it } from 'vitest';
import { type Right, reviewAccess } from './access.ts';

const scale: Right = {
  verb: 'patch',
  group: 'apps',
  resource: 'deployments/scale',
  name: 'kcm',
  namespace: 'shoot--a',
};
const secrets: Right = { verb: 'list', group: '', resource: 'secrets' };

describe('rights', () => {
  it('are checked with a separate subresource and without absent fields', () => {
    expect(JSON.parse(JSON.stringify(reviewAccess(scale).body))).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: {
          verb: 'patch',
          group: 'apps',
          resource: 'deployments',
          subresource: 'scale',
          name: 'kcm',
          namespace: 'shoot--a',
        },
      },
    });
    expect(JSON.parse(JSON.stringify(reviewAccess(secrets).body))).toMatchObject({
      spec: { resourceAttributes: { verb: 'list', group: '', resource: 'secrets' } },
    });
  });

  it.each([
    [{ status: { allowed: true } }, true],
    [{ status: { allowed: false, reason: 'no' } }, false],
    // No decision of the authorizer is no grant.
    [{ status: {} }, false],
  ])('are granted only if the response grants them: %j', (answer, expected) => {
    expect(reviewAccess(secrets).decode(answer)).toBe(expected);
  });
});
