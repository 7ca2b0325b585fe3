import { describe, expect, it } from 'vitest';
import { decideCapiLifecycle } from './capi-lifecycle.ts';

const up = { deleting: false, paused: false, initialized: true };

describe('a cluster of Cluster API', () => {
  it.each([
    [up, 'run'],
    [{ ...up, initialized: false }, 'leave'],
    [{ ...up, paused: true }, 'restore: its Cluster is paused'],
    [{ ...up, deleting: true }, 'restore: its Cluster is being deleted'],
    [{ deleting: true, paused: true, initialized: false }, 'restore: its Cluster is being deleted'],
    [{ ...up, paused: true, initialized: false }, 'restore: its Cluster is paused'],
  ])('%j: %s', (cluster, expected) => {
    const decision = decideCapiLifecycle(cluster);
    const words = decision.kind === 'stop' ? `${decision.releasePolicy}: ${decision.reason}` : decision.kind;
    expect(words).toBe(expected);
  });
});
