import { describe, expect, it } from 'vitest';
import { readHeldAnnotation, formatHeldAnnotation, heldAnnotation } from './held.ts';

const since = Date.parse('2026-11-23T13:00:00Z');

describe('the annotation of a held resource', () => {
  it('is one line of JSON', () => {
    expect(formatHeldAnnotation({ since: since + 999, reason: '3 of 3 leases have expired', by: 'pod_1' })).toBe(
      '{"since":"2026-11-23T13:00:00Z","reason":"3 of 3 leases have expired","by":"pod_1"}',
    );
  });

  it('can be read back', () => {
    const annotation = { since, reason: 'r', by: 'b' };
    expect(readHeldAnnotation({ [heldAnnotation]: formatHeldAnnotation(annotation) })).toEqual(annotation);
    expect(readHeldAnnotation({ [heldAnnotation]: '{}' })).toEqual({ reason: '', by: '' });
  });

  it('names the cluster, and the resources that are held together', () => {
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kcm' };
    const annotation = {
      since,
      reason: 'r',
      by: 'b',
      cluster: 'shoot--a',
      with: [ref, { ...ref, namespace: 'other' }],
    };
    expect(readHeldAnnotation({ [heldAnnotation]: formatHeldAnnotation(annotation) })).toEqual(annotation);
  });

  it('is short and has no control characters, for any reason', () => {
    const reason = `\u001b]0;title\u0007${'\u{1f600}'.repeat(900)}`;
    const text = formatHeldAnnotation({ since, reason, by: 'b\u0085c\nd' });
    expect(text.length).toBeLessThan(1_200);
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]|\\u/);
    expect(readHeldAnnotation({ [heldAnnotation]: text })).toMatchObject({ by: 'b c d' });
  });

  it.each(['', 'yes', '[]', '{"since": "today"}', '{"reason": {}}', '{"with": [{}]}'])(
    'is undefined if its text is %j',
    (text) => {
      expect(readHeldAnnotation({ [heldAnnotation]: text })).toBeUndefined();
    },
  );

  it('is undefined without the annotation', () => {
    expect(readHeldAnnotation({})).toBeUndefined();
  });
});
