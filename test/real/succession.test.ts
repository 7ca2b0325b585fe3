import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';
import { getDeployment } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type Program, superviseProcess } from './support/program.ts';
import { type HandOver, handOvers, leaseWrites } from './support/replica.ts';
import { type SeedWithShoot, kcm, mcm, shootNamespace, startSeedWithShoot } from './support/seed-with-shoot.ts';

const dwd = [process.execPath, fileURLToPath(new URL('../../bin/dwd', import.meta.url))];
/** Program that gardenlet runs before and afterwards: `PREDECESSOR=/path/to/dependency-watchdog` selects a build of the Go program. */
const given = process.env.PREDECESSOR?.split(' ').filter(Boolean) ?? [];
const predecessor = given.length > 0 ? given : dwd;
/** The Go program does not release the Lease when its pod ends. Neither does our program when it is killed. */
const endOfPredecessor = given.length > 0 ? 'SIGTERM' : 'SIGKILL';
const [other, successor] =
  given.length > 0 ? ['the program of PREDECESSOR', 'it again'] : ['a killed prober of ours', 'another prober of ours'];
const annotation = 'dependency-watchdog.gardener.cloud/replicas';

describeEnvtest('a prober that takes over from another in the middle of an outage', () => {
  let world: SeedWithShoot;
  let kubeconfig = '';
  const started: Program[] = [];

  beforeAll(async () => {
    world = await startSeedWithShoot('succession');
    kubeconfig = await world.proberKubeconfig();
  });

  afterAll(async () => {
    for (const program of started) program.signal('SIGKILL');
    await world.stop();
  });

  /** Starts a program with gardenlet's command line, except for the ports. */
  const startAsGardenlet = ([file = '', ...args]: readonly string[]): Program => {
    const flags = [
      'prober',
      `--config-file=${world.configFile('5s')}`,
      '--kube-api-qps=20.0',
      '--kube-api-burst=100',
      '--zap-log-level=INFO',
      '--enable-leader-election=true',
      '--metrics-bind-addr=0',
      '--health-bind-addr=0',
    ];
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const program = superviseProcess(spawn(file, [...args, ...flags], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
    started.push(program);
    return program;
  };
  const writes = () => leaseWrites(world.audit.requests());
  const holder = (): string => writes().at(-1)?.holder ?? '';
  const outputs = (): string => started.map((program) => program.output()).join('\n');
  const untilLed = (what: string, isLed: (holder: string) => boolean): Promise<string> =>
    waitFor({ what, everyMs: 200, detail: outputs }, () => {
      const now = holder();
      return now !== '' && isLed(now) && now;
    });
  /** Waits until a standby has read the Lease. */
  const untilStandingBy = (user: string, since: number): Promise<unknown> =>
    waitFor({ what: 'a standby that reads the Lease', everyMs: 200 }, () => {
      const reads = world.audit
        .requests()
        .filter(({ verb, uri, at }) => verb === 'get' && at >= since && uri.includes('/leases/dwd-prober-leader-'))
        .filter((request) => request.user === user);
      return reads.length > 0;
    });
  const storedCounts = async (): Promise<readonly unknown[]> =>
    Promise.all(
      [kcm, mcm].map(async (name) => {
        const { metadata, spec } = await getDeployment(world.seed.client, shootNamespace, name);
        return [spec.replicas, metadata.annotations?.[annotation]];
      }),
    );
  const held = [
    [0, '2'],
    [0, '3'],
  ];
  const counts = (since: number): readonly string[] =>
    world.countsSince(since).map((line) => line.replace(/^\S+ /, ''));

  const startOutage = async (): Promise<void> => {
    world.kubelets.cut();
    await world.untilCounts(0, 0);
    expect(await storedCounts()).toEqual(held);
  };
  /** Returns the changes of leaders since `since`. Expects that only the Lease was written meanwhile. */
  const expectHandedOver = async (since: number): Promise<readonly HandOver[]> => {
    // Helm does not wait for pods that are ending, one of which may still lead.
    const changes = await waitFor({ what: 'another leader', everyMs: 200, detail: outputs }, () => {
      const found = handOvers(writes()).filter(({ at }) => at >= since);
      return found.length > 0 && found;
    });
    expect(counts(since)).toEqual([]);
    expect(await storedCounts()).toEqual(held);
    return changes;
  };
  /** Ends the outage. Expects that the leader restores resources that another program has scaled down. */
  const endOutage = async (): Promise<void> => {
    const at = Date.now();
    world.kubelets.connect();
    await world.untilCounts(2, 3);
    expect(counts(at)).toEqual([`${kcm} 2`, `${mcm} 3`]);
  };
  const untilForgotten = (): Promise<unknown> =>
    waitFor({ what: 'no stored count' }, async () =>
      (await storedCounts()).flat().every((one) => typeof one !== 'string'),
    );

  it(`keeps and restores the resources that ${other} holds, although it does not release the Lease`, async () => {
    const before = startAsGardenlet(predecessor);
    const leader = await untilLed('the first one leads', () => true);
    await startOutage();
    const at = Date.now();
    const after = startAsGardenlet(dwd);
    await waitFor({ what: 'a standby' }, () => after.output().includes('another replica leads'));
    before.signal(endOfPredecessor);
    await before.ended;
    await untilLed('the successor leads', (now) => now !== leader);
    const changes = await expectHandedOver(at);
    expect(changes.map(({ isReleased }) => isReleased)).toEqual([false]);
    await endOutage();
    await untilForgotten();
  });

  it(`is succeeded by ${successor}, which restores the held resources`, async () => {
    const [, before] = started;
    const leader = holder();
    await startOutage();
    const at = Date.now();
    const after = startAsGardenlet(predecessor);
    await untilStandingBy('system:serviceaccount:garden:dependency-watchdog-prober', at);
    before?.signal('SIGTERM');
    expect(await before?.ended).toBe(0);
    await untilLed('the third one leads', (now) => now !== leader);
    const changes = await expectHandedOver(at);
    expect(changes.map(({ isReleased }) => isReleased)).toEqual([true]);
    await endOutage();
    // The Go program does not remove the stored counts.
    if (given.length === 0) await untilForgotten();
    after.signal(endOfPredecessor);
    await after.ended;
  });

  it('changes to another version and back by Helm, and the former version restores', async () => {
    const killed = holder();
    await world.release('1.0.0');
    // Helm waits for ready pods, which a standby is too: the Lease of the killed leader has to expire first.
    await untilLed('the first version leads', (now) => now !== killed);
    await startOutage();
    const at = Date.now();
    await world.release('2.0.0');
    const changes = await expectHandedOver(at);
    expect(changes.every(({ isReleased }) => isReleased)).toBe(true);
    const since = Date.now();
    await world.helm(['rollback', 'watchdog', '1', '--wait', '--timeout=10m']);
    await expectHandedOver(since);
    await endOutage();
    await untilForgotten();
  });
});
