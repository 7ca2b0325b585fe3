import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';
import { getDeployment } from '../envtest/shoot.ts';
import type { Program } from './support/program.ts';
import { kcm, mcm, shootNamespace } from './support/prober-world.ts';
import { type HandOver, handOvers, leaseWrites } from './support/lease-writes.ts';
import { type SeedWithShoot, startSeedWithShoot } from './support/seed-with-shoot.ts';

/** Program that gardenlet runs before and afterwards: `PREDECESSOR=/path/to/dependency-watchdog` selects a build of the Go program. */
const given = process.env.PREDECESSOR?.split(' ').filter(Boolean) ?? [];
const dwd = [process.execPath, fileURLToPath(new URL('../../bin/dwd', import.meta.url))];
const predecessor = given.length > 0 ? given : dwd;
/** The Go program does not release the Lease when its pod ends. Neither does our program when it is killed. */
const endOfPredecessor = given.length > 0 ? 'SIGTERM' : 'SIGKILL';
const [other, successor] =
  given.length > 0 ? ['the program of PREDECESSOR', 'it again'] : ['a killed prober of ours', 'another prober of ours'];

describeEnvtest('a prober that takes over from another in the middle of an outage', () => {
  let world: SeedWithShoot;
  let latest: Program;

  beforeAll(async () => {
    world = await startSeedWithShoot('succession');
  });
  afterAll(() => world.stop());

  /** Starts a program with gardenlet's command line, except for the ports. */
  const start = (command: readonly string[], ...more: readonly string[]): Promise<Program> =>
    world.startProber(['--kube-api-qps=20.0', '--kube-api-burst=100', '--zap-log-level=INFO', ...more], { command });
  const isElection = (uri: string): boolean => uri.includes('/leases/dwd-prober-leader-');
  const writes = () => leaseWrites(world.seed.requests());
  const holder = (): string => writes().at(-1)?.holder ?? '';
  const untilLed = (what: string, isLed: (holder: string) => boolean): Promise<unknown> =>
    world.until(what, () => holder() !== '' && isLed(holder()));
  const stored = async (): Promise<readonly unknown[]> =>
    Promise.all(([kcm, mcm] as const).map(async (name) => (await world.marksOf(name)).replicas));
  /** Returns the desired numbers of replicas, whoever has written them and how. */
  const desired = async (): Promise<readonly number[]> =>
    Promise.all(
      [kcm, mcm].map(async (name) => (await getDeployment(world.seed.client, shootNamespace, name)).spec.replicas),
    );
  const counts = (since: number): readonly string[] =>
    world.countsSince(since).map((line) => line.replace(/^\S+ /, ''));

  const startOutage = async (): Promise<void> => {
    world.kubelets.cut();
    await world.untilHeld();
    expect(await stored()).toEqual(['2', '3']);
  };
  /** Returns the changes of leaders since `since`. Expects that only the Lease was written meanwhile. */
  const expectHandedOver = async (since: number): Promise<readonly HandOver[]> => {
    const changes = () => handOvers(writes()).filter(({ at }) => at >= since);
    // Helm does not wait for pods that are ending, one of which may still lead.
    await world.until('another leader', () => changes().length > 0);
    expect([counts(since), await stored(), await desired()]).toEqual([[], ['2', '3'], [0, 0]]);
    return changes();
  };
  /** Ends the outage. Expects that the leader restores resources that another program has scaled down. */
  const endOutage = async (): Promise<void> => {
    const at = Date.now();
    world.kubelets.connect();
    await world.untilUp();
    expect(counts(at)).toEqual([`${kcm} 2`, `${mcm} 3`]);
  };
  const untilForgotten = (): Promise<unknown> =>
    world.until('no stored count', async () => (await stored()).every((one) => one === undefined));

  it(`keeps and restores the resources that ${other} holds, although it does not release the Lease`, async () => {
    const before = await start(predecessor);
    await untilLed('the first one leads', () => true);
    const leader = holder();
    await startOutage();
    const at = Date.now();
    latest = await start(dwd);
    await world.until('a standby', () => latest.output().includes('another replica leads'));
    before.signal(endOfPredecessor);
    await before.ended;
    await untilLed('the successor leads', (now) => now !== leader);
    expect((await expectHandedOver(at)).map(({ isReleased }) => isReleased)).toEqual([false]);
    await endOutage();
    await untilForgotten();
  });

  it(`is succeeded by ${successor}, which restores the held resources`, async () => {
    const leader = holder();
    await startOutage();
    const at = Date.now();
    const after = await start(predecessor);
    const reads = () =>
      world.seed.requests().filter(({ verb, uri, at: then }) => verb === 'get' && then >= at && isElection(uri));
    // The leader renews without reads.
    await world.until('a standby that reads the Lease', () => reads().length > 0);
    latest.signal('SIGTERM');
    expect(await latest.ended).toBe(0);
    await untilLed('the third one leads', (now) => now !== leader);
    expect((await expectHandedOver(at)).map(({ isReleased }) => isReleased)).toEqual([true]);
    await endOutage();
    // The Go program does not remove the stored counts.
    if (given.length === 0) await untilForgotten();
    after.signal(endOfPredecessor);
    await after.ended;
  });

  it('is a standby that scales down without the lead when the leader is suspended, and the next leader restores', async () => {
    const runs = (program: Program): number => program.lines().filter(({ msg }) => msg === 'probe run').length;
    const former = holder();
    // Its Lease outlasts the time until the leases expire and the standby acts.
    const leader = await start(dwd, '--leader-elect-lease-duration=60s');
    await untilLed('it leads', (now) => now !== former);
    const standby = await start(dwd, '--zap-log-level=debug');
    // By then it has seen each lease renewed: kubelets renew every second, and it probes as often.
    await world.until('it observes', () => runs(standby) >= 6);
    const at = Date.now();
    leader.signal('SIGSTOP');
    world.kubelets.cut();
    await world.untilHeld();
    const messages = standby.lines().map(({ msg = '' }) => msg);
    const first = messages.slice(0, messages.indexOf('scaled down'));
    expect(first).toContainEqual(expect.stringMatching(/^protecting without the lead: /));
    expect(first).not.toContain('started leading');
    leader.signal('SIGCONT');
    world.kubelets.connect();
    await world.untilUp();
    expect(counts(at)).toEqual([`${mcm} 0`, `${kcm} 0`, `${kcm} 2`, `${mcm} 3`]);
    standby.signal('SIGKILL');
    await standby.ended;
    leader.signal('SIGTERM');
    await leader.ended;
  });

  it('changes to another version and back by Helm, and the former version restores', async () => {
    const former = holder();
    await world.release('1.0.0');
    // Helm waits for ready pods, which a standby is too.
    await untilLed('the first version leads', (now) => now !== former);
    await startOutage();
    const at = Date.now();
    await world.release('2.0.0');
    expect((await expectHandedOver(at)).every(({ isReleased }) => isReleased)).toBe(true);
    const since = Date.now();
    await world.helm(['rollback', 'watchdog', '1', '--wait', '--timeout=10m']);
    await expectHandedOver(since);
    await endOutage();
    await untilForgotten();
  });
});
