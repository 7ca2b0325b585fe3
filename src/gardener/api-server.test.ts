import { describe, expect, it } from 'vitest';
import { decodeReadyReplicas } from './api-server.ts';

describe('the ready replicas of an API server', () => {
  it.each([
    // A Deployment whose only pod became ready less than `minReadySeconds` ago.
    [{ replicas: 1, readyReplicas: 1, unavailableReplicas: 1 }, 1],
    [{ replicas: 1, unavailableReplicas: 1 }, 0],
    [{ replicas: 2, readyReplicas: 2, availableReplicas: 1 }, 2],
    // A kind that has no such count.
    [{ availableReplicas: 1 }, 1],
    [{}, 0],
    [undefined, 0],
  ])('with status %j are %d', (status, ready) => {
    expect(decodeReadyReplicas({ status }, 'Deployment a')).toBe(ready);
  });
});
