import { NoSuchShoot } from '../status/state/find-shoot.ts';
import { describe, expect, it } from 'vitest';
import type { ShootStatus } from '../status/state/schema.ts';
import type { SeedStatus, StatusRun } from '../status/index.ts';
import { judgeSeed } from '../status/judge.ts';
import { factsIn, toldOf } from '../status/state/testing/facts.ts';
import {
  before,
  blindShoot,
  findingsOf,
  landingShoot,
  losingShoot,
  pausedShoot,
  proberOf,
  shootOf,
  statusOf,
} from '../status/testing/statuses.ts';
import { changeLines } from './status-changes.ts';
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
const bad = [...healthy, pausedShoot, landingShoot, losingShoot, { ...blindShoot, namespace: 'b', name: 'blind' }];

const inTerminal = (answer: SeedStatus, { all = false, columns = 80 } = {}): string =>
  formatStatus(answer, { all, columns });

describe('the table in a terminal', () => {
  it('says the verdict first, then who leads, then a row for each shoot that needs eyes, the most urgent first', () => {
    expect(inTerminal(statusOf(...bad), { columns: 140 })).toMatchInlineSnapshot(`
      "seed aws-eu10   1 of 6 shoots is losing nodes, 1 blind (held), 1 paused, 1 landing, 2 healthy
      leader dwd-prober-a for 2h0m0s, 1 hot standby; last round 3s ago

      SHOOT      STATE         SINCE   WHY / NEXT / DO
      dev/lost   LOSING NODES  3m15s   12/12 silent for 22s; kube-controller-manager could not be scaled: 403 from webhook limits.example
                                       next: tries again at the next probe in 7s
                                       do: mend what keeps the prober from scaling; runbook DwdOutageUnmet
      dev/blind  HELD, BLIND   43s     401 Unauthorized (Secret shoot--dev--one/dwd-prober, key kubeconfig); as of 11:59:14 12/12 silent for 22s;
                                       held: kube-controller-manager, machine-controller-manager, cluster-autoscaler
                                       next: cannot be restored until its API server can be read; next probe in 7s
                                       do: renew the Secret shoot--dev--one/dwd-prober; nothing is restored before; runbook DwdShootBlind
      dev/two    PAUSED        1h2m0s  paused until 2026-01-01T14:00:00Z: LB maintenance (jo)
                                       next: protected again when the pause ends in 2h0m0s
                                       do: to end the pause: dwd resume --shoot shoot--dev--two; runbook DwdPausedLong
      dev/one    LANDING       3m12s   7 of 12 nodes renew again, not yet: node-3
                                       next: restored when all renew, at the latest in 41s
      "
    `);
  });

  it('puts words that do not fit into 80 columns below their row', () => {
    const text = inTerminal(statusOf(...bad, { ...losingShoot, namespace: 'x', name: 'a-shoot-with-a-longer-name' }));
    expect(text).toContain('dev/a-shoot-with-a-longer-name  LOSING NODES  3m15s\n    12/12 silent for 22s; kube-');
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      '403 from webhook limits.example next: tries again at the next probe',
    );
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('folds more than ten equal shoots, unless all are wanted', () => {
    const held = Array.from({ length: 12 }, (_, index) => toldOf(factsIn(`s${String(index)}`, 'silent', 'held')));
    const answer = statusOf(...held, ...healthy, losingShoot);
    expect(inTerminal(answer, { columns: 140 })).toMatchInlineSnapshot(`
      "seed aws-eu10   1 of 15 shoots is losing nodes, 12 held since 11:56 (all silent), 2 healthy
      leader dwd-prober-a for 2h0m0s, 1 hot standby; last round 3s ago

      SHOOT      STATE         SINCE  WHY / NEXT / DO
      dev/lost   LOSING NODES  3m15s  12/12 silent for 22s; kube-controller-manager could not be scaled: 403 from webhook limits.example
                                      next: tries again at the next probe in 7s
                                      do: mend what keeps the prober from scaling; runbook DwdOutageUnmet
      12 shoots  HELD          3m12s  12/12 silent for 22s; held: kube-controller-manager, machine-controller-manager, cluster-autoscaler
                                      next: restored when its nodes renew

      A row of several shoots shows one of them (--all lists all).
      "
    `);
    expect(inTerminal(answer, { all: true }).match(/dev\/s\d+ /g)).toHaveLength(12);
  });

  it('reports in one line that all shoots are healthy', () => {
    expect(inTerminal(statusOf(...healthy))).toBe(`seed aws-eu10   2 shoots, all healthy
leader dwd-prober-a for 2h0m0s, 1 hot standby; last round 3s ago
`);
    expect(inTerminal(statusOf(...healthy), { all: true })).toContain('dev/b');
    expect(inTerminal(statusOf())).toContain('it has no shoots');
  });

  it.each<[what: string, found: Parameters<typeof findingsOf>[0], words: readonly string[]]>([
    [
      'no replica leads',
      {
        objects: { lease: { holder: '', isFresh: false }, replicas: [], problems: [] },
        held: nothingHeld,
      },
      [
        'not known: no prober responded; by its objects nothing is held',
        'nobody holds the leader Lease: nothing is probed, unless a prober runs without one or elsewhere (--namespace)',
      ],
    ],
    [
      'no replica leads, and a standby responds',
      {
        objects: { lease: { holder: '', isFresh: false }, replicas: [], problems: [] },
        answer: proberOf([shootOf('a')], { leads: false }),
      },
      ['nobody holds the leader Lease: nothing is restored until a replica leads; runbook DwdNoLeader'],
    ],
    [
      'the leader is silent',
      {
        objects: { lease: { holder: 'x_1', since: before(60), isFresh: false }, replicas: [], problems: [] },
        held: nothingHeld,
      },
      ['leader x for 1m0s no longer renews its Lease'],
    ],
    [
      'the leader does not respond',
      { problems: ['the prober: no way'], held: { ...nothingHeld, shoots: [landingShoot] } },
      [
        'seed of context test   no prober responded; by its objects 1 of 9 shoots is landing, of the others nothing is known',
        'leader dwd-prober-a for 2h0m0s, but it did not respond',
        '? the prober: no way',
      ],
    ],
    [
      'a standby responded',
      {
        answer: proberOf([shootOf('a')], { leads: false, identity: 'dwd-prober-b_2' }),
        problems: ['the prober: no way'],
      },
      ['1 shoot, healthy, as the standby dwd-prober-b sees it', 'but it did not respond'],
    ],
    [
      'a standby responded, and the Go program leads',
      {
        objects: { lease: { holder: 'x_1', isFresh: true, isForeign: true }, replicas: [], problems: [] },
        answer: proberOf([shootOf('a')], { leads: false, identity: 'dwd-prober-b_2' }),
      },
      ['as the standby dwd-prober-b sees it; it only observes, beside another program'],
    ],
    [
      'nothing could be read',
      { objects: { lease: undefined, replicas: undefined, problems: ['no way'] } },
      ['not known: nothing could be read', 'leader not known ? no way'],
    ],
    [
      'a dry run, a right missing, all paused',
      { answer: proberOf([], { dryRun: true, missingRights: ['list nodes'], paused: { reason: 'work', by: 'jo' } }) },
      ['DRY RUN', '! rights are missing: list nodes', '! all shoots are paused: nothing is scaled down'],
    ],
  ])('reports that %s', (_, found, words) => {
    const text = inTerminal(judgeSeed(findingsOf(found))).replaceAll(/\n(?!\n)/g, ' ');
    for (const word of words) expect(text).toContain(word);
  });

  it('prints no control character from a cluster', () => {
    const evil = '\u001b[2J\u202e\u0007';
    const shoot = { ...landingShoot, name: evil, next: { text: evil }, why: evil, do: evil } satisfies ShootStatus;
    const found = findingsOf({ answer: proberOf([shoot], { missingRights: [evil], seed: evil }), problems: [evil] });
    for (const text of [
      inTerminal(judgeSeed(found)),
      formatStatus(judgeSeed(found), { all: true }),
      changeLines(statusOf(), judgeSeed(found)).join('\n'),
    ]) {
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

it('without a terminal each shoot has a line with all columns', () => {
  expect(formatStatus(statusOf(...bad), { all: false })).toMatchInlineSnapshot(`
    "seed aws-eu10   1 of 6 shoots is losing nodes, 1 blind (held), 1 paused, 1 landing, 2 healthy
    leader dwd-prober-a for 2h0m0s, 1 hot standby; last round 3s ago

    SHOOT      STATE         SINCE   WHY  NEXT  DO
    dev/lost   LOSING NODES  3m15s   12/12 silent for 22s; kube-controller-manager could not be scaled: 403 from webhook limits.example  tries again at the next probe in 7s  mend what keeps the prober from scaling; runbook DwdOutageUnmet
    dev/blind  HELD, BLIND   43s     401 Unauthorized (Secret shoot--dev--one/dwd-prober, key kubeconfig); as of 11:59:14 12/12 silent for 22s; held: kube-controller-manager, machine-controller-manager, cluster-autoscaler  cannot be restored until its API server can be read; next probe in 7s  renew the Secret shoot--dev--one/dwd-prober; nothing is restored before; runbook DwdShootBlind
    dev/two    PAUSED        1h2m0s  paused until 2026-01-01T14:00:00Z: LB maintenance (jo)  protected again when the pause ends in 2h0m0s  to end the pause: dwd resume --shoot shoot--dev--two; runbook DwdPausedLong
    dev/one    LANDING       3m12s   7 of 12 nodes renew again, not yet: node-3  restored when all renew, at the latest in 41s  -
    "
  `);
});

it('--watch has a line for each change: of the leader, of problems, of shoots', () => {
  const [a, b] = healthy as [ShootStatus, ShootStatus];
  const lines = (...found: readonly Parameters<typeof findingsOf>[0][]) => {
    const [former, latter] = found.map((one) => judgeSeed(findingsOf(one)));
    return former === undefined || latter === undefined ? [] : changeLines(former, latter);
  };
  const fine = { answer: proberOf([a, b]) };
  expect(lines(fine, fine)).toEqual([]);
  // Numbers alone are no change.
  const later = shootOf('a', { reason: '1/12 expired', expired: 1 });
  expect(lines(fine, { answer: proberOf([later, b]) })).toEqual([]);
  const held = toldOf(factsIn('a', 'silent', 'held'));
  expect(lines(fine, { answer: proberOf([held]) })).toEqual([
    '12:00:00  dev/a  HELD  12/12 silent for 22s; held: kube-controller-manager, machine-controller-manager, cluster-autoscaler; next: restored when its nodes renew',
    '12:00:00  dev/b  GONE',
  ]);
  const { objects } = findingsOf();
  const dead = { objects: { ...objects, lease: { holder: 'dwd-prober-a_1f', isFresh: false } }, held: nothingHeld };
  expect(lines(fine, { ...dead, problems: ['the prober: no answer within 1.5s'] })).toEqual([
    '12:00:00  leader dwd-prober-a no longer renews its Lease, 1 standby: nothing is restored until a replica leads; runbook DwdNoLeader',
    '12:00:00  not known: no prober responded; by its objects nothing is held',
    '12:00:00  ? the prober: no answer within 1.5s',
  ]);
  expect(lines({ ...dead, problems: ['the prober: no answer within 1.5s'] }, fine)[2]).toBe(
    '12:00:00  over: the prober: no answer within 1.5s',
  );
});

describe('dwd status', () => {
  it('uses the namespace garden, and waits for the leader for a second and a half', async () => {
    const { code, stdout, runs } = await status(['status']);
    expect(code).toBe(0);
    expect(stdout).toContain('1 shoot, healthy');
    expect(runs).toMatchObject([
      {
        namespace: 'garden',
        selector: 'app=dwd-prober',
        leaderTimeoutMs: 1_500,
        shoot: undefined,
      },
    ]);
  });

  it('accepts a shoot and another namespace', async () => {
    const { stdout, runs } = await status(['status', '--shoot=dev/a', '--namespace=x']);
    expect(runs).toMatchObject([{ shoot: 'dev/a', namespace: 'x' }]);
    // A single requested shoot is shown even if it is healthy.
    expect(stdout).toContain('dev/a');
  });

  it('exits with the exit code of the status, and prints JSON and YAML', async () => {
    const answer = statusOf(...healthy, landingShoot);
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
  const facts = factsIn('one', 'outage', 'held');
  const explained = {
    ...toldOf({ ...facts, candidates: 3, expired: 2 }),
    candidates: 3,
    expired: 2,
    nodes: 4,
    leftOut: 2,
    threshold: 0.6,
    marginMs: 8_200,
    publicAddress: 'unreachable',
    leases: [
      { name: 'node-1', renewedAt: before(5), ageMs: 5_000, expired: false, counted: true },
      { name: 'node-22', renewedAt: before(95), ageMs: 95_000, expired: true, counted: true },
      { name: 'node-3', expired: true, counted: true },
      { name: 'node-5', renewedAt: before(46), ageMs: 46_000, expired: false, counted: true },
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
      { at: before(600), lastAt: before(200), runs: 40, verdict: 'healthy', reason: 'fine' },
      {
        at: before(192),
        lastAt: before(192),
        runs: 1,
        verdict: 'unhealthy',
        reason: 'gone',
      },
    ],
  } satisfies ShootStatus;

  it('prints the leases that count, those not counted and why, the threshold, the next step, and earlier decisions', async () => {
    const { code, stdout, runs } = await status(['explain', 'dev/one'], statusOf(explained));
    expect(code).toBe(0);
    expect(runs).toMatchObject([{ shoot: 'dev/one' }]);
    expect(stdout).toMatchInlineSnapshot(`
      "dev/one (shoot--dev--one, seed aws-eu10) is HELD since 2026-01-01 11:56:48 UTC
      (3m12s).
        2/3 expired; held: kube-controller-manager, machine-controller-manager,
        cluster-autoscaler
        next: restored when its nodes renew

      VERDICT as of 11:59:57
        12/12 node leases expired, threshold 0.6
        Last look 2026-01-01 11:59:57 UTC, 3s ago. Threshold: 2 of 3 leases (60 %);
        2/3 expired. There are 4 nodes; 2 not counted. A lease expires 30s after its
        last renewal, KCM gives up a node after 40s. The last scale-down came 8s
        before that.
        The public address, by the external probe: unreachable.

      LEASES THAT COUNT as of 11:59:57 (oldest renewal first)
        node-3   never renewed                  -  EXPIRED
        node-22  2026-01-01 11:58:25 UTC    1m35s  EXPIRED
        node-5   2026-01-01 11:59:14 UTC      46s  not expired yet
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

      PRESENT OUTAGE
        11:56:45  over the threshold
        11:56:48 (+3s)  confirmed: gone

      DECISIONS (latest first)
        2026-01-01 11:56:48 UTC: unhealthy
            gone
        2026-01-01 11:50:00 UTC to 2026-01-01 11:56:40 UTC, 40 runs: healthy
            fine
      "
    `);
  });

  it('reports that a scale-down came too late, and by how much', async () => {
    const { stdout } = await status(['explain', 'dev/one'], statusOf({ ...explained, marginMs: -118_000 }));
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('The last scale-down came 1m58s after that: nodes may be lost.');
    // What is up may be lost, whatever the margin of the others was.
    const losing = await status(['explain', 'dev/one'], statusOf({ ...explained, state: 'losing nodes' }));
    expect(losing.stdout).not.toContain('The last scale-down');
  });

  it('does not say of what is given back, or stays held, that it is restored', async () => {
    const { stdout } = await status(['explain', 'dev/one'], statusOf(toldOf(factsIn('one', 'held', 'hibernated'))));
    expect(stdout).toContain('Deployment kube-controller-manager: at 0 instead of 2 replicas, since');
    expect(stdout).not.toContain('restore');
  });

  it('prints JSON', async () => {
    const { stdout } = await status(['explain', 'dev/one', '-o', 'json'], statusOf(explained));
    expect(JSON.parse(stdout)).toEqual(explained);
  });

  it('reports what is unknown', async () => {
    const objects = judgeSeed(findingsOf({ held: { ...nothingHeld, shoots: [landingShoot] }, problems: ['no way'] }));
    const { code, stdout, stderr } = await status(['explain', 'dev/one'], objects);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'dwd explain: no way\n' });
    expect(stdout).toContain('\nHELD\n  Deployment kube-controller-manager: at 0');
    const empty = judgeSeed(findingsOf({ held: nothingHeld }));
    expect(await status(['explain', 'dev/one'], empty)).toMatchObject({ code: 2, stdout: '' });
    const elsewhere = judgeSeed(findingsOf({ held: nothingHeld, isNoSeed: true }));
    expect((await status(['explain', 'dev/one'], elsewhere)).stderr).toContain('dwd explain: this is no seed: ');
    expect(await status(['explain'])).toMatchObject({ code: 2, runs: [] });
  });

  it.each(['status --shoot=x', 'explain x'])('%s exits with 1 if there is no such shoot', async (line) => {
    const missing = new NoSuchShoot('x', []);
    const result = await dwdWith(never, line.split(' '), { runStatus: () => Promise.reject(missing) });
    expect(result).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('there is no shoot x') as string,
    });
  });
});
