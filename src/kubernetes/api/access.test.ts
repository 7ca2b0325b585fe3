import { describe, expect, it } from 'vitest';
import { type Right, reviewAccess } from './access.ts';

const secrets: Right = { verb: 'list', group: '', resource: 'secrets' };

describe('rights', () => {
  it('are checked with a separate subresource', () => {
    const scale: Right = { verb: 'patch', group: 'apps', resource: 'deployments/scale', name: 'kcm', namespace: 'a' };
    expect(reviewAccess(scale).body).toMatchObject({
      spec: { resourceAttributes: { ...scale, resource: 'deployments', subresource: 'scale' } },
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
