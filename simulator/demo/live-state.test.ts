import { describe, expect, it } from 'vitest';
import { statusScreen } from '../../src/cli/status-screen/index.ts';
import type { ShootSnapshot } from '../../src/cli/status-screen/snapshot.ts';
import { shootStatus, snapshotOf } from '../../src/cli/status-screen/testing/snapshots.ts';
import type { About } from './about.ts';
import { type LiveState, addEvents, beginLive, screenOf, takeObservation } from './live-state.ts';
import type { Faults } from './seed-calls.ts';

const observe = (state: LiveState, change: Partial<ShootSnapshot>, faults: Partial<Faults> = {}): LiveState =>
  takeObservation(state, 5_000, {
    status: snapshotOf(shootStatus('alpha', change), shootStatus('twin')),
    faults: new Map([['alpha', { isCut: false, isEtcdDown: false, ...faults }]]),
  });

const begun = observe(beginLive(['alpha', 'twin'], 'twin'), {});

const about: About = {
  pace: 'live',
  seedKubeconfig: '/tmp/dwd-demo-abcdef/seed.kubeconfig',
  shootKubeconfigs: ['alpha', 'bravo', 'charlie', 'twin'].map((name) => `/tmp/dwd-demo-abcdef/${name}.kubeconfig`),
  careConfig: '/tmp/dwd-demo-abcdef/care.yaml',
  cluster: 'shoot--sim--charlie',
};

const rowsOf = (state: LiveState): readonly string[] =>
  statusScreen(screenOf(state, about, 0), { columns: 80, rows: 24 }, (_, text) => text);

const textsOf = ({ events }: LiveState): readonly string[] => events.map(({ line }) => line.text);

const unknown = (ready: string): ShootSnapshot['nodes'] =>
  shootStatus('alpha').nodes.map((node) => ({ ...node, ready }));

const noteOn = (state: LiveState): string | undefined => screenOf(state, about, 0).notes.get('alpha');

describe('events', () => {
  it('are empty after the first observation, even if it has faults', () => {
    expect(textsOf(observe(beginLive(['alpha', 'twin'], 'twin'), {}, { isCut: true }))).toEqual([]);
  });

  it('report faults and their consequences with the time, and their end', () => {
    const affected = observe(begun, { state: 'blind' }, { isCut: true, isEtcdDown: true });
    expect(affected.events.map(({ at, line }) => [at, line.about, line.text])).toEqual([
      [5_000, 'alpha', 'its kubelets are cut off'],
      [5_000, 'alpha', 'its etcd is killed'],
      [5_000, 'alpha', 'blind'],
    ]);
    expect(noteOn(affected)).toBe('cut off, no etcd');
    const mended = observe(affected, {});
    expect(textsOf(mended).slice(3)).toEqual(['its kubelets are connected', 'its etcd is mended', 'healthy']);
    expect(noteOn(mended)).toBe('');
  });

  it('are kept for a screen of any height, but not without limit', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => ({
      tone: 'plain' as const,
      about: '',
      text: String(index),
    }));
    const { events } = addEvents(begun, 0, lines);
    expect(events).toHaveLength(200);
    expect(events.at(-1)?.line.text).toBe('999');
  });
});

describe('losses', () => {
  it('count a node each time that it turns Unknown, and deleted machines', () => {
    let state = observe(begun, { nodes: unknown('Unknown') });
    state = observe(state, { nodes: unknown('Unknown') });
    state = observe(state, { nodes: unknown('True') });
    state = observe(state, { nodes: unknown('Unknown'), machines: ['shoot--sim--alpha-worker-1'] });
    expect(noteOn(state)).toBe('lost 4 nodes, 1 machine');
  });

  it('do not grow while the API server does not respond', () => {
    let state = observe(begun, { nodes: unknown('Unknown') });
    state = observe(state, { answers: false, nodes: [] });
    state = observe(state, { nodes: unknown('Unknown') });
    expect(noteOn(state)).toBe('lost 2 nodes');
  });
});

describe('the screen of the demo', () => {
  it('compares the selected shoot with the twin, and the twin with the first shoot', () => {
    expect(rowsOf(begun)[4]).toMatch(/^alpha {36}twin /);
    const text = rowsOf({ ...begun, selected: 'twin' });
    expect(text[4]).toMatch(/^twin {37}alpha /);
    expect(text[3]).toMatch(/^> 2 twin/);
  });

  it('shows all paths on its help page', () => {
    const rows = rowsOf({ ...begun, page: 'help' });
    const { seedKubeconfig, shootKubeconfigs, careConfig } = about;
    for (const path of [seedKubeconfig, ...shootKubeconfigs, careConfig]) {
      expect(rows.join('\n')).toContain(path);
    }
  });
});
