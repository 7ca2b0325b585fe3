import { describe, expect, it } from 'vitest';
import { type ShowOptions, runShow, storyOf, untold } from '../testing/show.ts';
import { type CareReport, tellCare } from './verdicts.ts';

type Verdict = CareReport['shoots'][number];

const verdict = (shoot: string, ...troubles: readonly Verdict['conditions'][number][]): Verdict => ({
  namespace: `shoot--sim--${shoot}`,
  conditions: [
    { type: 'APIServerAvailable', status: 'True', reason: 'HealthzRequestSucceeded' },
    { type: 'EveryNodeReady', status: 'True', reason: 'EveryNodeReady' },
    ...troubles,
  ],
});

const held = { type: 'ControlPlaneHealthy', status: 'False', reason: 'ControllersScaledDown' };
const outdated = {
  type: 'ObservabilityComponentsHealthy',
  status: 'Unknown',
  reason: 'OperatingSystemConfigOutdatedHealthCheckReport',
};

describe("care's part of the story", () => {
  const answer = { shoots: [verdict('alpha', held), verdict('bravo'), verdict('charlie', held)] };
  const after =
    (ms: number, askCare: () => CareReport): NonNullable<ShowOptions['askCare']> =>
    async ({ clock }) => {
      await clock.sleep(ms, new AbortController().signal);
      return askCare();
    };

  it('comes when nodes would be given up, and before the network is repaired', async () => {
    const { lines, findings } = await runShow({ askCare: after(9_000, () => answer) });
    expect(
      untold(lines, [
        'KCM would now give up nodes; it is down',
        'care is asked how the shoots are',
        'what care has found then',
        'alpha    ControlPlaneHealthy      False    ControllersScaledDown',
        'bravo    all 2 conditions are True',
        'charlie  as alpha',
        'the network is repaired',
      ]),
    ).toEqual([]);
    expect(lines.filter((line) => line.includes('care is asked'))).toHaveLength(1);
    expect(findings.every(({ seen }) => seen)).toBe(true);
  });

  it('comes without a prober, too', async () => {
    const { lines } = await runShow({ withProber: false, askCare: after(1_000, () => answer) });
    expect(untold(lines, ['care is asked', 'what care has found', 'the network is repaired'])).toEqual([]);
  });

  it('is left out, with the reason, where care cannot be asked', async () => {
    const fail = (): never => {
      throw new Error('dwd care ended with 2');
    };
    const { lines, findings } = await runShow({ askCare: after(100, fail) });
    expect(untold(lines, ['care could not be asked: dwd care ended with 2', 'the network is repaired'])).toEqual([]);
    expect(findings.every(({ seen }) => seen)).toBe(true);
  });

  it('does not hold up the story for ever', async () => {
    const { lines, lastedMs } = await runShow({ askCare: () => new Promise(() => undefined) });
    expect(untold(lines, ['care is asked', 'the network is repaired', 'the end'])).toEqual([]);
    expect(storyOf(lines, 'care')).toEqual([]);
    expect(lastedMs).toBeLessThan(80_000);
  });
});

describe('what care says, told', () => {
  const names = [{ name: 'alpha', namespace: 'shoot--sim--alpha' }];

  it('is told of shoots that nobody knows by name as well', () => {
    expect(tellCare({ shoots: [verdict('alpha'), verdict('other')] }, names).map(({ about }) => about)).toEqual([
      'alpha',
      'shoot--sim--other',
    ]);
  });

  it('keeps what is too long for its column', () => {
    const [told] = tellCare({ shoots: [verdict('alpha', outdated)] }, names);
    expect(told?.text).toBe('ObservabilityComponentsHealthy  Unknown  OperatingSystemConfigOutdatedHealthCheckReport');
  });
});
