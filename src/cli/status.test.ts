import { describe, expect, it } from 'vitest';
import type { ProbedShoot } from '../prober/status/index.ts';
import type { SeedStatus, StatusRun } from '../status/index.ts';
import { judgeSeed } from '../status/judge.ts';
import {
  before,
  findingsOf,
  ignoringShoot,
  pausedShoot,
  proberOf,
  protectedShoot,
  shootOf,
  statusOf,
  unprobedShoot,
} from '../status/testing/statuses.ts';
import { formatStatus } from './status-output.ts';
import { dwdWith } from './testing/dwd.ts';

const never = async (): Promise<never> => expect.unreachable('no component runs');

const status = async (argv: readonly string[], answer: SeedStatus = statusOf(shootOf('a'))) => {
  const runs: StatusRun[] = [];
  const runStatus = async (run: StatusRun) => {
    runs.push(run);
    return answer;
  };
  return { ...(await dwdWith(never, argv, { runStatus })), runs };
};

const nothingHeld = { shoots: [], total: 9, paused: null, problems: [] };
const healthy = [shootOf('a'), shootOf('b')];

describe('the table', () => {
  it('shows who leads, a line for each shoot that is not healthy, and a count of the rest', () => {
    const text = formatStatus(statusOf(...healthy, pausedShoot, protectedShoot), { all: false, columns: 140 });
    expect(
      text,
    ).toBe(`dwd-prober-a_1f leads since 2026-01-01 10:00:00 UTC (2h0m0s). Standby, hot: dwd-prober-b (0.1.0). Version 0.1.0, configuration 9f86d081884c.
Last probe round ended 3s ago. No right is missing.

SHOOT (project/name)  STATE    LEASES         SINCE   HELD                NEXT
dev/one               LANDING  12/12 expired  3m12s   kcm 2, mcm 1, ca 1  landing: 7 of 12 renewed, at the latest in 41s
dev/two               PAUSED   0/5 expired    1h2m0s  -                   until 2026-01-01T14:00:00Z, "LB maintenance"

2 more shoots healthy (--all lists them).
`);
  });

  it('puts columns that do not fit into 80 columns below their row', () => {
    const text = formatStatus(statusOf(...healthy, pausedShoot, protectedShoot), { all: false, columns: 80 });
    expect(text).toContain(`
SHOOT (project/name)  STATE    LEASES         SINCE
dev/one               LANDING  12/12 expired  3m12s
    held: kcm 2, mcm 1, ca 1
    next: landing: 7 of 12 renewed, at the latest in 41s
dev/two               PAUSED   0/5 expired    1h2m0s
    next: until 2026-01-01T14:00:00Z, "LB maintenance"
`);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('has a dash if the start of a state is unknown', () => {
    const { since: _, ...paused } = pausedShoot;
    const held = { ...nothingHeld, shoots: [paused] };
    const text = formatStatus(judgeSeed(findingsOf({ held })), { all: false, columns: 140 });
    expect(text).toMatch(/\ndev\/two +PAUSED +0\/5 expired +- +- +until /);
  });

  it('lists shoots that lose nodes first, marked and with a remedy, and healthy shoots that are not protected', () => {
    const losing = {
      ...pausedShoot,
      expired: 5,
      unmet: true,
      next: { text: 'NOT PROTECTED until 2026-01-01T14:00:00Z, "LB"' },
    };
    const text = formatStatus(statusOf(...healthy, ignoringShoot, protectedShoot, losing), {
      all: false,
      columns: 200,
    });
    expect(text).toContain(`
dev/two               ! PAUSED  5/5 expired    1h2m0s  -                   NOT PROTECTED until 2026-01-01T14:00:00Z, "LB" (2h0m0s): dwd resume --shoot shoot--dev--two protects now
dev/one               LANDING   12/12 expired  3m12s   kcm 2, mcm 1, ca 1  landing: 7 of 12 renewed, at the latest in 41s
dev/twin              healthy   0/12 expired   1h0m0s  -                   next probe in 7s; NOT PROTECTED: ignore-scaling on kcm, ca

2 more shoots healthy (--all lists them).
`);
    expect(text).toContain(
      '! an outage continues without full protection: nodes are lost (1 shoot, such as shoot--dev--two)\n',
    );
  });

  it.each([
    ['all', 'dwd resume --all'],
    ['configuration', 'removing `paused` from the configuration'],
    ['shoot--dev--two', 'dwd resume --shoot shoot--dev--two'],
  ])('shows what ends a pause of %s', (on, words) => {
    const losing = { ...pausedShoot, unmet: true, paused: { reason: 'LB', by: 'kim', on } };
    const text = formatStatus(statusOf(losing), { all: false, columns: 200 });
    expect(text).toContain(`: ${words} protects now\n`);
  });

  it('shows the pause of a shoot with held resources', () => {
    const held = { ...protectedShoot, paused: { reason: 'LB', by: 'kim', until: '2026-01-01T14:00:00Z' } };
    const text = formatStatus(statusOf(held), { all: false, columns: 200 });
    expect(text).toMatch(/in 41s; PAUSED \(2h0m0s\): dwd resume --shoot shoot--dev--one ends that\n/);
  });

  it('reports in one line that all shoots are healthy', () => {
    expect(formatStatus(statusOf(...healthy), { all: false, columns: 80 })).toMatch(
      /\n\n2 shoots, all healthy \(--all lists them\)\.\n$/,
    );
    expect(formatStatus(statusOf(...healthy), { all: true, columns: 80 })).toMatch(/\ndev\/b .*\n\n2 shoots\.\n$/s);
    expect(formatStatus(statusOf(), { all: false, columns: 80 })).toMatch(/\n\nNo shoot is probed\.\n$/);
  });

  it.each<[what: string, found: Parameters<typeof findingsOf>[0], words: readonly string[]]>([
    [
      'no replica leads',
      {
        objects: { lease: { holder: '', isFresh: false }, replicas: [], problems: [] },
        held: nothingHeld,
      },
      [
        'No replica leads: nothing is probed, and nothing new is protected. Standbys: unknown, because no pod of the prober was found (--namespace, --selector).',
        '0 of 9 shoots held or paused',
      ],
    ],
    [
      'the leader is silent',
      {
        objects: { lease: { holder: 'x_1', since: before(60), isFresh: false }, replicas: [], problems: [] },
        held: nothingHeld,
      },
      ['x_1 has led since 2026-01-01 11:59:00 UTC (1m0s), but no longer renews its Lease.'],
    ],
    [
      'the leader does not respond',
      { problems: ['the prober: no way'], held: { ...nothingHeld, shoots: [protectedShoot] } },
      [
        'dwd-prober-a_1f leads since 2026-01-01 10:00:00 UTC (2h0m0s), but did not respond.',
        '? the prober: no way',
        'Read from the objects of the seed.',
        '1 of 9 shoots held or paused; without a prober the others are unknown.',
      ],
    ],
    [
      'nothing could be read',
      { objects: { lease: undefined, replicas: undefined, problems: ['no way'] } },
      ['The leader is unknown. ? no way', 'No shoot was found.'],
    ],
    [
      'a dry run, no round, a right missing, all paused',
      {
        answer: {
          ...proberOf([], { dryRun: true, missingRights: ['list nodes'], paused: { reason: 'work', by: 'jo' } }),
          lastRoundEndedAt: undefined,
        },
      },
      [
        'DRY RUN',
        'No probe round has ended yet.',
        'MISSING RIGHTS: list nodes.',
        'ALL SHOOTS PAUSED until it is taken back: work.',
      ],
    ],
  ])('reports that %s', (_, found, words) => {
    const text = formatStatus(judgeSeed(findingsOf(found)), { all: false, columns: 80 }).replaceAll(/\n(?!\n)/g, ' ');
    for (const word of words) expect(text).toContain(word);
  });

  it('prints no control character from a cluster', () => {
    const evil = '\u001b[2J\u202e\u0007';
    const shoot = { ...protectedShoot, name: evil, next: { text: evil }, reason: evil } satisfies ProbedShoot;
    const found = findingsOf({ answer: proberOf([shoot], { missingRights: [evil] }), problems: [evil] });
    const text = formatStatus(judgeSeed(found), { all: false, columns: 80 });
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });
});

describe('dwd status', () => {
  it('uses the namespace garden, and waits for the leader for a second and a half', async () => {
    const { code, stdout, runs } = await status(['status']);
    expect(code).toBe(0);
    expect(stdout).toContain('1 shoot, all healthy');
    expect(runs).toMatchObject([
      {
        namespace: 'garden',
        selector: 'app=dwd-prober',
        leaderTimeoutMs: 1_500,
        leaderUrl: undefined,
        shoot: undefined,
      },
    ]);
  });

  it('accepts a shoot, another namespace and an address', async () => {
    const argv = ['status', '--shoot=dev/a', '--namespace=x', '--leader-url=http://[::1]:9644/y'];
    const { stdout, runs } = await status(argv);
    expect(runs).toMatchObject([{ shoot: 'dev/a', namespace: 'x', leaderUrl: { host: '[::1]:9644', pathname: '/y' } }]);
    // A single requested shoot is shown even if it is healthy.
    expect(stdout).toContain('dev/a');
  });

  it.each(['localhost:9644', 'ftp://x', 'http://user@x', 'x'])('refuses the address %j', async (url) => {
    expect(await status(['status', `--leader-url=${url}`])).toMatchObject({ code: 2, runs: [] });
  });

  it('exits with the exit code of the status, and prints JSON and YAML', async () => {
    const answer = statusOf(...healthy, protectedShoot);
    expect((await status(['status'], answer)).code).toBe(1);
    const { code, stdout } = await status(['status', '-o', 'json'], answer);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(answer)));
    expect((await status(['status', '-o', 'yaml'], answer)).stdout).toContain(
      '\nshoots:\n  - namespace: shoot--dev--one\n',
    );
  });
});

describe('dwd explain', () => {
  const explained = {
    ...protectedShoot,
    state: 'protected',
    candidates: 3,
    expired: 2,
    nodes: 4,
    leftOut: 2,
    threshold: 0.6,
    marginMs: 8_200,
    leases: [
      { name: 'node-1', renewedAt: before(5), ageMs: 5_000, expired: false, counted: true },
      { name: 'node-22', renewedAt: before(95), ageMs: 95_000, expired: true, counted: true },
      { name: 'node-3', expired: true, counted: true },
      {
        name: 'node-4',
        renewedAt: before(70),
        ageMs: 70_000,
        expired: true,
        counted: false,
        leftOut: 'not managed by MCM',
      },
      { name: 'node-6', expired: false, counted: false, leftOut: 'it has no lease yet' },
    ],
    scaling: {
      direction: 'down',
      reason: 'why',
      startedAt: before(2),
      steps: [{ kind: 'Deployment', name: 'kcm', level: 1, state: 'failed', detail: 'forbidden' }],
    },
    decisions: [
      { at: before(600), lastAt: before(200), runs: 40, verdict: 'healthy', reason: 'fine', threshold: 0.6 },
      {
        at: before(192),
        lastAt: before(192),
        runs: 1,
        verdict: 'unhealthy',
        reason: 'gone',
        candidates: 3,
        expired: 2,
        threshold: 0.6,
      },
    ],
  } satisfies ProbedShoot;

  it('prints the leases that count, those not counted and why, the threshold, the next step, and earlier decisions', async () => {
    const { code, stdout, runs } = await status(['explain', 'dev/one'], statusOf(explained));
    expect(code).toBe(0);
    expect(runs).toMatchObject([{ shoot: 'dev/one' }]);
    expect(stdout).toBe(`dev/one (shoot--dev--one) is PROTECTED since 2026-01-01 11:56:48 UTC (3m12s).

VERDICT
  12/12 node leases expired, threshold 0.6
  Judged 3s ago. Threshold: 2 of 3 leases (60 %); 2 have expired. There are 4
  nodes; 2 not counted. A lease expires 30s after its last renewal, KCM gives up
  a node after 40s. The last scale-down came 8s before that.

LEASES THAT COUNT (oldest renewal first)
  node-3   never renewed                  -  EXPIRED
  node-22  2026-01-01 11:58:25 UTC    1m35s  EXPIRED
  node-1   2026-01-01 11:59:55 UTC       5s

NOT COUNTED
  node-6  never renewed                  -  it has no lease yet
  node-4  2026-01-01 11:58:50 UTC    1m10s  not managed by MCM

HELD
  Deployment kube-controller-manager: at 0, 2 replicas will be restored, since
  2026-01-01 11:56:48 UTC (3m12s)
  Deployment machine-controller-manager: at 0, 1 replica will be restored, since
  2026-01-01 11:56:48 UTC (3m12s)
  Deployment cluster-autoscaler: at 0, 1 replica will be restored, since
  2026-01-01 11:56:48 UTC (3m12s)
  Held resources stay held if the prober stops; the next one restores them.

SCALING
  down, for 2s: why
    level 1  Deployment kcm: failed (forbidden)

NEXT
  landing: 7 of 12 renewed, at the latest in 41s

DECISIONS (latest first)
  2026-01-01 11:56:48 UTC: unhealthy 2/3
      gone
  2026-01-01 11:50:00 UTC to 2026-01-01 11:56:40 UTC, 40 runs: healthy
      fine
`);
  });

  it('reports that a scale-down came too late, and by how much', async () => {
    const { stdout } = await status(['explain', 'dev/one'], statusOf({ ...explained, marginMs: -118_000 }));
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('The last scale-down came 1m58s after that: nodes may be lost.');
  });

  it('names resources that ignore-scaling excludes, and how to remove it', async () => {
    const { stdout } = await status(['explain', 'dev/twin'], statusOf(ignoringShoot));
    expect(stdout).toContain(`
NOT PROTECTED
  ignore-scaling on Deployment kube-controller-manager: it is not scaled down in
  an outage. To remove the annotation:
      kubectl -n shoot--dev--twin annotate deployment kube-controller-manager dependency-watchdog.gardener.cloud/ignore-scaling-
`);
  });

  it('prints JSON', async () => {
    const { stdout } = await status(['explain', 'dev/one', '-o', 'json'], statusOf(explained));
    expect(JSON.parse(stdout)).toEqual(explained);
  });

  it('reports what is unknown', async () => {
    const unknown = judgeSeed(findingsOf({ answer: proberOf([]), wanted: 'x' }));
    expect(await status(['explain', 'x'], unknown)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('dwd explain: the prober does not probe x: dwd status --all lists') as string,
    });
    const objects = judgeSeed(findingsOf({ held: { ...nothingHeld, shoots: [protectedShoot] }, problems: ['no way'] }));
    const { code, stdout, stderr } = await status(['explain', 'dev/one'], objects);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'dwd explain: no way\n' });
    expect(stdout).toContain('\nHELD\n  Deployment kube-controller-manager: at 0');
    const empty = judgeSeed(findingsOf({ held: nothingHeld }));
    expect(await status(['explain', 'dev/one'], empty)).toMatchObject({ code: 2, stdout: '' });
    expect(await status(['explain'])).toMatchObject({ code: 2, runs: [] });
  });

  it('reports a shoot that is held and not probed, and how to restore it', async () => {
    const answer = proberOf([], { heldUnprobed: [unprobedShoot] });
    const { namespace } = unprobedShoot;
    expect(await status(['explain', namespace], judgeSeed(findingsOf({ answer, wanted: namespace })))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^dwd explain: .* is not probed .*; to restore them: dwd release --shoot shoot--dev--three\n$/u,
      ) as string,
    });
  });
});
