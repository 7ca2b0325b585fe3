import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startControllerManager } from '../envtest/controller-manager.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { electionRules, seedRules } from '../envtest/shoot.ts';
import { pollEvery, waitFor } from '../envtest/waiting.ts';
import {
  dependentWrites,
  electionLease,
  leaseWrites,
  toElectionLease,
  writesOutOfTerm,
} from './support/lease-writes.ts';
import { type Mill, createMill, millPath, millRules } from './support/mill.ts';
import { type ProberBehindProxy, proberBehindProxy } from './support/prober-behind-proxy.ts';
import { type ProberWorld, quickConfig, shootNamespace, startProberWorld } from './support/prober-world.ts';

const mill = millPath(shootNamespace);
const users = ['dwd-a', 'dwd-b', 'dwd-c'];
/** All renewals pass through this process, which may be slow: a leader that is not disturbed must not lose its Lease. */
const renewDeadlineMs = 6_000;
const flags = [
  '--enable-leader-election=true',
  `--leader-election-namespace=${electionLease.namespace}`,
  '--leader-elect-lease-duration=8s',
  '--leader-elect-renew-deadline=6s',
  '--leader-elect-retry-period=500ms',
  // A hot standby may write while another leads, so that a slow leader on a busy machine would look like two.
  '--standby=cold',
];

/** The same for kube-controller-manager. */
const electingFlags = {
  'leader-elect': 'true',
  'leader-elect-resource-name': electionLease.name,
  'leader-elect-resource-namespace': electionLease.namespace,
  'leader-elect-lease-duration': '8s',
  'leader-elect-renew-deadline': '6s',
  'leader-elect-retry-period': '500ms',
};

describeEnvtest('leader election between processes of the built program', () => {
  let world: ProberWorld;
  let replicas: readonly ProberBehindProxy[] = [];
  const requests = () => world.seed.requests();

  beforeAll(async () => {
    world = await startProberWorld('election');
    const { seed, directory } = world;
    // Its kubelets never renew, so every leader must scale down.
    await world.createShoot();
    await createMill(seed.client, shootNamespace, 2);
    const config = quickConfig(['mill'], { probeInterval: '500ms', kcmNodeMonitorGraceDuration: '4s' });
    const configFile = world.file('config.yaml', config);
    const rules = [...seedRules, ...millRules, ...electionRules];
    const all = users.map((user) => proberBehindProxy({ seed, user, rules, configFile, directory, flags }));
    replicas = (await Promise.all(all)).map((replica) => world.use(replica));
    // Scales up again and again, so that a leader always has writes to do. The count alternates, so that the leader must store it before it
    // scales down: that takes two writes, and the second follows the response to the first at once.
    let count = 2;
    const raising = pollEvery(100, async () => {
      const { spec } = await seed.client.get<Mill>(mill);
      if (spec.wheel.count !== 0) return;
      count = 5 - count;
      await seed.client.patch(mill, { spec: { wheel: { count } } });
    });
    world.use(raising);
    for (const replica of replicas) replica.start();
  });
  afterAll(() => world.stop());

  afterEach(() => {
    // A write of a former leader may arrive late. Its precondition refuses it.
    expect(writesOutOfTerm(requests(), users).filter(({ status }) => status !== 409)).toEqual([]);
    const ofElection = requests().filter((request) => users.includes(request.user) && toElectionLease(request));
    expect(ofElection.filter(({ status }) => status === 403 || status === 401)).toEqual([]);
    for (const { verb } of ofElection) expect(['create', 'get', 'update']).toContain(verb);
  });

  const outputs = (): string =>
    replicas.map((replica) => `--- ${replica.user}\n${replica.program().output()}`).join('\n');

  /** Waits for a working leader: it holds the Lease, and has written twice from now on. */
  const untilLeads = async (former?: ProberBehindProxy): Promise<ProberBehindProxy> => {
    const since = Date.now();
    const what = `a leader other than ${former?.user ?? 'nobody'}`;
    return waitFor({ what, everyMs: 200, detail: outputs }, () => {
      const last = leaseWrites(requests()).at(-1);
      if (last === undefined || last.holder === '' || last.user === former?.user) return undefined;
      const written = dependentWrites(requests()).filter(({ user, at }) => user === last.user && at >= since);
      return written.length >= 2 ? replicas.find(({ user }) => user === last.user) : undefined;
    });
  };
  const others = (leader: ProberBehindProxy): readonly ProberBehindProxy[] => replicas.filter((one) => one !== leader);

  const writesOf = ({ user }: ProberBehindProxy, since: number) =>
    requests()
      .filter((request) => request.user === user && request.at > since)
      .filter(({ verb }) => ['create', 'update', 'patch', 'delete'].includes(verb))
      // A permission check changes nothing.
      .filter(({ uri }) => !uri.endsWith('/selfsubjectaccessreviews'));

  /** Delays the first of the leader's next two writes until `release` is called. `status` resolves to the API server's status for that write. */
  const holdNextWrite = ({ proxy }: ProberBehindProxy) => {
    const [held, mayPass, status] = [
      Promise.withResolvers<undefined>(),
      Promise.withResolvers<undefined>(),
      Promise.withResolvers<number>(),
    ];
    proxy.setFault({
      before: async ({ path }) => {
        if (path !== mill) return 'forward';
        proxy.setFault(undefined);
        held.resolve(undefined);
        await mayPass.promise;
        return 'forward';
      },
      after: (write) => {
        if (write.path === mill) status.resolve(write.status ?? 0);
        return Promise.resolve('answer');
      },
    });
    return { held: held.promise, release: () => mayPass.resolve(undefined), status: status.promise };
  };

  it('hands over from a killed leader', async () => {
    const leader = await untilLeads();
    await leader.kill();
    await untilLeads(leader);
    leader.start();
  });

  it('rule 28: writes nothing after a suspension, although the response to its last write was waiting', async () => {
    const leader = await untilLeads();
    const program = leader.program();
    const write = holdNextWrite(leader);
    await write.held;
    program.signal('SIGSTOP');
    write.release();
    expect(await write.status).toBe(200);
    const next = await untilLeads(leader);
    const woken = Date.now();
    program.signal('SIGCONT');
    expect(await program.ended, program.output()).toBe(1);
    // It tries once to renew the Lease, and fails.
    expect(writesOf(leader, woken).filter((request) => !toElectionLease(request))).toEqual([]);
    leader.start();
    expect(await untilLeads()).toBe(next);
  });

  it('rule 28: renews before it writes after a suspension beyond its renew deadline, and continues if no other replica has taken the Lease', async () => {
    const leader = await untilLeads();
    for (const other of others(leader)) await other.kill();
    const program = leader.program();
    const write = holdNextWrite(leader);
    await write.held;
    program.signal('SIGSTOP');
    write.release();
    await sleep(renewDeadlineMs + 50);
    const woken = Date.now();
    program.signal('SIGCONT');
    expect(await untilLeads()).toBe(leader);
    const [first] = writesOf(leader, woken);
    expect(first).toMatchObject({ verb: 'update', status: 200 });
    expect(first === undefined || toElectionLease(first)).toBe(true);
    expect(program.output()).not.toContain('stopped leading');
    for (const other of others(leader)) other.start();
  });

  it('rule 26: stops writing when it is cut off, and gets 409 for a write that the network delayed until another led', async () => {
    const leader = await untilLeads();
    const program = leader.program();
    const write = holdNextWrite(leader);
    await write.held;
    leader.proxy.cutOff();
    await untilLeads(leader);
    write.release();
    expect(await write.status).toBe(409);
    expect(await program.ended, program.output()).toBe(1);
    leader.proxy.heal();
    leader.start();
  });

  it('rule 25: hands over to a Go program, and takes over from it when it is killed', async () => {
    const leader = await untilLeads();
    for (const other of others(leader)) await other.kill();
    const go = await startControllerManager(world.seed, { flags: electingFlags });
    leader.program().signal('SIGTERM');
    expect(await leader.program().ended).toBe(0);
    const isLeader = (user: string): boolean => users.includes(user);
    const last = () => leaseWrites(requests()).at(-1);
    await waitFor({ what: 'the Go program leads' }, () => last()?.holder !== '' && !isLeader(last()?.user ?? ''));
    for (const replica of replicas) replica.start();
    const renewals = () => leaseWrites(requests()).filter(({ user }) => !isLeader(user)).length;
    const before = renewals();
    await waitFor({ what: 'the Go program renews' }, () => renewals() >= before + 5);
    expect(isLeader(last()?.user ?? '')).toBe(false);
    await go.stop({ signal: 'SIGKILL' });
    await untilLeads();
  });
});
