import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateInObject } from '../../gardener/annotated.ts';
import { heldAnnotation as note } from '../../gardener/held-note.ts';
import {
  meltdownProtectionAnnotation as active,
  formerAnnotation as former,
  ignoreScalingAnnotation as ignore,
  replicasAnnotation as replicas,
} from '../../gardener/scaling-annotations.ts';
import type { ResourceState } from '../../kubernetes/api/scalable.ts';
import { dependent } from '../testing/cases.ts';
import { deployment, healthCheck, objectOf, scalableOf } from '../testing/seed-model.ts';
import { type Direction, type PatchInput, isSettled, hasNothingToRestore, planPatch } from './patch-plan.ts';

type Annotations = Readonly<Record<string, string>>;

const paused = 'cluster.x-k8s.io/paused';
const annotation = { key: paused, value: 'dwd' };
const resource = dependent(healthCheck('mhc'), { annotation });

const stateOf = (annotations: Annotations, of = resource): ResourceState => {
  const state = stateInObject(scalableOf(objectOf(of.ref, { annotations })), of);
  if (state === undefined) throw new Error('its object says all');
  return state;
};

const aim = (direction: Direction, more: Partial<PatchInput> = {}): PatchInput => ({
  direction,
  scope: 'all',
  ...more,
});

/** Annotations after the next patch; the kind of plan or outcome if there is none. */
const after = (annotations: Annotations, given: PatchInput, of = resource): Annotations | string => {
  const plan = planPatch(of, stateOf(annotations, of), given);
  if (plan.kind === 'settle') return 'settle';
  if (plan.kind === 'done') return plan.outcome;
  expect(plan.write).toMatchObject({ kind: 'object', base: { resourceVersion: '1' } });
  expect(plan.write.replicas).toBeUndefined();
  const entries = Object.entries({ ...annotations, ...plan.write.annotations });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
};

const stored = (value?: string): string => JSON.stringify({ ...annotation, former: value });
const held = (value?: string): Annotations => ({ [paused]: 'dwd', [former]: stored(value), [active]: '' });

describe('down', () => {
  it.each([
    ['a resource without the annotation', {}, held()],
    ['one that another client has paused', { [paused]: 'true' }, held('true')],
    ['one that another client has paused with an empty value', { [paused]: '' }, held('')],
    ['one that another client has paused with our value', { [paused]: 'dwd' }, held('dwd')],
    ['a held one', held('true'), 'settle'],
    ['a held one that is no longer annotated', { [active]: '', [former]: stored('true') }, held()],
    ['a held one that another client has annotated', { ...held(), [paused]: 'mine' }, held('mine')],
    ['a held one without its stored value', { [paused]: 'dwd', [active]: '' }, 'settle'],
    [
      'a held one without its stored value that another client has annotated',
      { [paused]: 'mine', [active]: '' },
      held('mine'),
    ],
    ['one with ignore-scaling', { [ignore]: 'true' }, 'ignored'],
    [
      'a held one with ignore-scaling',
      { ...held(), [ignore]: 'true' },
      { [paused]: 'dwd', [former]: stored(), [ignore]: 'true' },
    ],
  ] satisfies readonly [string, Annotations, Annotations | string][])('%s', (_, before, expected) => {
    expect(after(before, aim('down'))).toEqual(expected);
  });

  it('writes the note in the same request, and names the manager whose change it undoes', () => {
    const undone = { ...stateOf({ ...held(), [paused]: 'mine' }), replicasManager: 'kubectl-annotate' };
    const plan = planPatch(resource, undone, aim('down', { note: 'why' }));
    expect(plan).toMatchObject({
      scaling: true,
      write: { annotating: 'down', annotations: { [note]: 'why', [active]: '' }, undoes: 'kubectl-annotate' },
    });
  });
});

describe.each(['up', 'release'] as const)('%s', (direction) => {
  const nothing = direction === 'up' ? 'settle' : 'released';

  it.each([
    ['a resource without the annotation', {}, nothing],
    ['one that another client has paused', { [paused]: 'true' }, nothing],
    ['one that another client has paused with our value', { [paused]: 'dwd' }, nothing],
    ['one that was not annotated before', held(), {}],
    ['one that was annotated before', { ...held('true'), [note]: 'why', other: 'x' }, { [paused]: 'true', other: 'x' }],
    ['one that was annotated with an empty value', held(''), { [paused]: '' }],
    ['one that was annotated with our value', held('dwd'), { [paused]: 'dwd' }],
    ['one whose annotation another client has removed since', { [active]: '', [former]: stored('true') }, {}],
    [
      'one whose annotation another client has changed since',
      { ...held('true'), [paused]: 'mine' },
      { [paused]: 'mine' },
    ],
    ['one without its stored value', { [paused]: 'dwd', [active]: '', [note]: 'why' }, {}],
    [
      'a held one without its stored value that another client has annotated',
      { [paused]: 'mine', [active]: '' },
      { [paused]: 'mine' },
    ],
    ['one without its mark', { [paused]: 'dwd', [former]: stored('true') }, { [paused]: 'true' }],
    [
      'a held one with ignore-scaling',
      { ...held(), [ignore]: 'true' },
      { [paused]: 'dwd', [former]: stored(), [ignore]: 'true' },
    ],
  ] satisfies readonly [string, Annotations, Annotations | string][])('%s', (_, before, expected) => {
    expect(after(before, aim(direction))).toEqual(expected);
  });

  it('treats an unreadable stored value as none, and reports it', () => {
    for (const text of ['', '{', '[]', '{"key":1}', '{"value":"dwd"}']) {
      const broken = { ...held(), [former]: text };
      expect(after(broken, aim(direction))).toEqual({});
      expect(planPatch(resource, stateOf(broken), aim(direction))).toMatchObject({ write: { unreadable: text } });
    }
  });

  it('does not report a missing stored value as unreadable', () => {
    const plan = planPatch(resource, stateOf({ [paused]: 'dwd', [active]: '' }), aim(direction));
    expect(plan).toMatchObject({ write: { annotating: 'up' } });
    expect(plan).not.toHaveProperty('write.unreadable');
  });

  it('restores an annotation that is no longer configured, or configured differently', () => {
    const { annotation: _, ...unconfigured } = resource;
    const other = { ...resource, annotation: { key: 'example.com/other', value: 'x' } };
    for (const of of [unconfigured, other]) {
      expect(after(held('true'), aim(direction), of)).toEqual({ [paused]: 'true' });
    }
  });
});

it('a resource that was scaled down is scaled up again, even if an annotation has been configured since', () => {
  const kcm = dependent(deployment('kcm'), { annotation });
  const object = objectOf(kcm.ref, { replicas: 0, annotations: { [active]: '', [replicas]: '3' } });
  const state = stateInObject(scalableOf(object), kcm);
  expect(state?.annotation).toBeUndefined();
  expect(planPatch(kcm, state!, aim('up'))).toMatchObject({ write: { replicas: 3 } });
});

it('an annotation is settled at once: no controller has to follow', () => {
  expect(isSettled(stateOf(held()), 'down')).toBe(true);
  expect(isSettled(stateOf({}), 'up')).toBe(true);
  const annotations: Record<string, string>[] = [{}, { [paused]: 'true' }, { [paused]: 'dwd' }];
  expect(annotations.map((one) => hasNothingToRestore(stateOf(one)))).toEqual([true, true, true]);
  expect([held(), { [former]: '' }, { [active]: '' }].some((one) => hasNothingToRestore(stateOf(one)))).toBe(false);
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', 'dwd', 'true', '"', '{"a":1}', '\u0000\u2028'),
);

it('an annotation is restored exactly, with any former value and any other annotations', () => {
  const others = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}\/[a-z]{1,9}$/), anyText, { maxKeys: 3 });
  fc.assert(
    fc.property(fc.option(anyText, { nil: undefined }), others, (value, rest) => {
      const before = value === undefined ? rest : { ...rest, [paused]: value };
      const down = after(before, aim('down', { note: 'why' })) as Annotations;
      expect(down[paused]).toBe('dwd');
      expect(after(down, aim('down'))).toBe('settle');
      expect(after(down, aim('up'))).toEqual(before);
    }),
    { numRuns: 300 },
  );
});
