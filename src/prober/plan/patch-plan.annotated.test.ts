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
import { type Direction, type PatchInput, isSettled, isUndisturbed, planPatch } from './patch-plan.ts';

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
    ['what nobody has annotated', {}, held()],
    ['what somebody has paused', { [paused]: 'true' }, held('true')],
    ['what somebody has paused with no value', { [paused]: '' }, held('')],
    ['what somebody has paused with our value', { [paused]: 'dwd' }, held('dwd')],
    ['what is held', held('true'), 'settle'],
    ['what is held, and no longer annotated', { [active]: '', [former]: stored('true') }, held()],
    ['what is held, and annotated otherwise', { ...held(), [paused]: 'mine' }, held('mine')],
    ['what is held, and has lost what is stored', { [paused]: 'dwd', [active]: '' }, 'settle'],
    ['what has lost what is stored, and is annotated otherwise', { [paused]: 'mine', [active]: '' }, held('mine')],
    ['what ignore-scaling keeps us off', { [ignore]: 'true' }, 'ignored'],
    [
      'what ignore-scaling has taken over',
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
    ['what nobody has annotated', {}, nothing],
    ['what somebody has paused', { [paused]: 'true' }, nothing],
    ['what somebody has paused with our value', { [paused]: 'dwd' }, nothing],
    ['what was not there before', held(), {}],
    ['what was there before', { ...held('true'), [note]: 'why', other: 'x' }, { [paused]: 'true', other: 'x' }],
    ['what was there with no value', held(''), { [paused]: '' }],
    ['what was there with our value', held('dwd'), { [paused]: 'dwd' }],
    ['what somebody has taken away since', { [active]: '', [former]: stored('true') }, {}],
    ['what somebody has changed since', { ...held('true'), [paused]: 'mine' }, { [paused]: 'mine' }],
    ['what has lost what is stored', { [paused]: 'dwd', [active]: '', [note]: 'why' }, {}],
    [
      'what has lost what is stored, and is annotated otherwise',
      { [paused]: 'mine', [active]: '' },
      { [paused]: 'mine' },
    ],
    ['what has lost its mark', { [paused]: 'dwd', [former]: stored('true') }, { [paused]: 'true' }],
    [
      'what ignore-scaling has taken over',
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
  expect([{}, { [paused]: 'true' }, { [paused]: 'dwd' }].map((one) => isUndisturbed(stateOf(one)))).toEqual([
    true,
    true,
    true,
  ]);
  expect([held(), { [former]: '' }, { [active]: '' }].some((one) => isUndisturbed(stateOf(one)))).toBe(false);
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
