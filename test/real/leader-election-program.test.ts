import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { createMachines, createNodes, createProtectedShoot, shootRules } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { auditInto } from './support/audit.ts';
import { type Mill, createMill, millPath } from './support/mill.ts';
import {
  type ProgramReplica,
  createReplica,
  dependentWrites,
  electionLease,
  leaseWrites,
  toElectionLease,
  writesOutOfTerm,
} from './support/replica.ts';

const namespace = 'shoot--test--one';
const nodes = ['node-a', 'node-b'];
const users = ['dwd-a', 'dwd-b', 'dwd-c'];
const config = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 500ms
initialDelay: 0s
probeTimeout: 5s
backoffJitterFactor: 0.1
kcmNodeMonitorGraceDuration: 4s
dependentResourceInfos:
  - ref: {apiVersion: test.dependency-watchdog.gardener.cloud/v1, kind: Watermill, name: mill}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;
const flags = [
  '--enable-leader-election=true',
  `--leader-election-namespace=${electionLease.namespace}`,
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
];

/** Creates a promise that the caller resolves. */
const signal = <T>() => {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value: T): void => settle?.(value) };
};

describeEnvtest('leader election between processes of the built program', () => {
  let directory: string;
  const handOvers: string[] = [];
  let seed: ControlPlane;
  let shoot: ControlPlane;
  let replicas: readonly ProgramReplica[] = [];
  let audit: ReturnType<typeof auditInto>;
  let raising = true;
  let raised = Promise.resolve();

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-election-'));
    const seedDir = mkdtempSync(join(directory, 'seed-'));
    audit = auditInto(seedDir);
    [seed, shoot] = await Promise.all([
      startControlPlane({ name: 'seed', apiServerFlags: audit.flags }),
      startControlPlane({ name: 'shoot', kinds: [] }),
    ]);
    // Their kubelets never renew, so every leader must scale down.
    await createNodes(shoot.client, nodes);
    const { text } = await shoot.kubeconfigFor({ user: 'prober', rules: shootRules });
    await createProtectedShoot(seed, { namespace, kubeconfig: text });
    await createMachines(seed.client, { namespace, nodes });
    await createMill(seed.client, namespace, 2);
    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    replicas = await Promise.all(users.map((user) => createReplica({ seed, user, configFile, directory, flags })));
    raised = raise();
  });

  /**
   * Scales up again and again, so that a leader always has writes to do. The count alternates, so that the leader must store it before it
   * scales down: that takes two writes, and the second follows the response to the first at once.
   */
  const raise = async (): Promise<void> => {
    let count = 2;
    while (raising) {
      await sleep(100);
      const { spec } = await seed.client.get<Mill>(millPath(namespace));
      if (spec.wheel.count !== 0) continue;
      count = 5 - count;
      await seed.client.patch(millPath(namespace), { spec: { wheel: { count } } });
    }
  };

  afterAll(async () => {
    raising = false;
    await raised;
    await Promise.all(replicas.map((replica) => replica.stop()));
    await Promise.all([seed.stop(), shoot.stop()]);
    rmSync(directory, { recursive: true, force: true });
    process.stderr.write(`${['hand-over (lease 4s, renew 3s, retry 500ms)', ...handOvers].join('\n')}\n`);
  });

  const outputs = (): string =>
    replicas.map((replica) => `--- ${replica.user}\n${replica.program().output()}`).join('\n');
  const outOfTerm = () => writesOutOfTerm(audit.requests(), users);

  /** Waits for a working leader: it holds the Lease, and has written since `since`. */
  const untilLeads = async (since: number, former?: ProgramReplica): Promise<ProgramReplica> => {
    const what = `a leader other than ${former?.user ?? 'nobody'}`;
    return waitFor({ what, withinMs: 90_000, everyMs: 200, detail: outputs }, () => {
      const requests = audit.requests();
      const last = leaseWrites(requests).at(-1);
      if (last === undefined || last.holder === '' || last.user === former?.user) return undefined;
      const written = dependentWrites(requests).filter(({ user, at }) => user === last.user && at >= since);
      return written.length >= 2 ? replicas.find(({ user }) => user === last.user) : undefined;
    });
  };

  /** Waits for another leader, and notes how long there was none. */
  const untilHandedOver = async (how: string, from: ProgramReplica, since: number): Promise<ProgramReplica> => {
    const next = await untilLeads(since, from);
    const took = leaseWrites(audit.requests()).find(({ user, at }) => user === next.user && at >= since)?.at ?? since;
    const wrote = dependentWrites(audit.requests()).find(({ user, at }) => user === next.user && at >= since)?.at;
    handOvers.push(
      `${how.padEnd(22)} ${from.user} -> ${next.user}  Lease after ${String(took - since)} ms, first write after ${String((wrote ?? since) - since)} ms`,
    );
    return next;
  };

  const writesOf = ({ user }: ProgramReplica, since: number) =>
    audit
      .requests()
      .filter((request) => request.user === user && request.verb !== 'get' && request.at > since)
      .filter(({ verb }) => ['create', 'update', 'patch', 'delete'].includes(verb))
      // A permission check changes nothing.
      .filter(({ uri }) => !uri.endsWith('/selfsubjectaccessreviews'));

  /** Delays the first of the leader's next two writes until `release` is called. `status` resolves to the API server's status for that write. */
  const holdNextWrite = ({ proxy }: ProgramReplica) => {
    const [held, mayPass, status] = [signal<number>(), signal<undefined>(), signal<number>()];
    proxy.setFault({
      before: async ({ path }) => {
        if (path !== millPath(namespace)) return 'forward';
        proxy.setFault(undefined);
        held.resolve(Date.now());
        await mayPass.promise;
        return 'forward';
      },
      after: (write) => {
        if (write.path === millPath(namespace)) status.resolve(write.status ?? 0);
        return Promise.resolve('answer');
      },
    });
    return { held: held.promise, release: () => mayPass.resolve(undefined), status: status.promise };
  };

  it('elects one of two, and only the leader writes', async () => {
    const [first, second] = replicas;
    first?.start();
    second?.start();
    const leader = await untilLeads(0);
    const standby = leader === first ? second : first;
    expect(standby?.program().output()).not.toContain('started leading');
    expect(outOfTerm()).toEqual([]);
  });

  it('hands over from a killed leader', async () => {
    const leader = await untilLeads(Date.now());
    const since = Date.now();
    leader.program().signal('SIGKILL');
    await untilHandedOver('killed', leader, since);
    expect(outOfTerm()).toEqual([]);
    await leader.program().ended;
    leader.start();
    replicas[2]?.start();
  });

  it('writes nothing after a suspension, although the response to its last write was waiting', async () => {
    const leader = await untilLeads(Date.now());
    const program = leader.program();
    const write = holdNextWrite(leader);
    const since = await write.held;
    program.signal('SIGSTOP');
    write.release();
    expect(await write.status).toBe(200);
    const next = await untilHandedOver('suspended', leader, since);
    const woken = Date.now();
    program.signal('SIGCONT');
    expect(await program.ended, program.output()).toBe(1);
    // It tries once to renew the Lease, and fails.
    expect(writesOf(leader, woken).filter((request) => !toElectionLease(request))).toEqual([]);
    expect(outOfTerm()).toEqual([]);
    leader.start();
    expect(await untilLeads(Date.now())).toBe(next);
  });

  it('renews before it writes after a suspension beyond its renew deadline, and continues if no other replica has taken the Lease', async () => {
    const leader = await untilLeads(Date.now());
    const program = leader.program();
    const write = holdNextWrite(leader);
    await write.held;
    program.signal('SIGSTOP');
    write.release();
    // The Lease was renewed at most 0.5 s before, and lasts 4 s.
    await sleep(3_050);
    const woken = Date.now();
    program.signal('SIGCONT');
    expect(await untilLeads(woken)).toBe(leader);
    const [first] = writesOf(leader, woken);
    expect(first).toMatchObject({ verb: 'update', status: 200 });
    expect(first === undefined || toElectionLease(first)).toBe(true);
    expect(program.output()).not.toContain('stopped leading');
    expect(outOfTerm()).toEqual([]);
  });

  it('gets 409 for a write that the network delayed until another replica led', async () => {
    const leader = await untilLeads(Date.now());
    const program = leader.program();
    const write = holdNextWrite(leader);
    const since = await write.held;
    leader.proxy.cutOff('swallow');
    await untilHandedOver('cut off in a write', leader, since);
    expect(outOfTerm()).toEqual([]);
    write.release();
    expect(await write.status).toBe(409);
    expect(await program.ended, program.output()).toBe(1);
    leader.proxy.heal();
    leader.start();
  });

  it.each(['refuse', 'swallow'] as const)('stops writing when it is cut off from the seed (%s)', async (how) => {
    const leader = await untilLeads(Date.now());
    const since = Date.now();
    leader.proxy.cutOff(how);
    await untilHandedOver(`cut off (${how})`, leader, since);
    expect(await leader.program().ended, leader.program().output()).toBe(1);
    leader.proxy.heal();
    expect(outOfTerm().filter(({ status }) => status !== 409)).toEqual([]);
    leader.start();
  });

  it('releases the Lease on SIGTERM and ends with exit code 0', async () => {
    const leader = await untilLeads(Date.now());
    const since = Date.now();
    leader.program().signal('SIGTERM');
    expect(await leader.program().ended, leader.program().output()).toBe(0);
    handOvers.push(`SIGTERM: ended after ${String(Date.now() - since)} ms`);
    const released = leaseWrites(audit.requests()).filter(({ user, at }) => user === leader.user && at >= since);
    expect(released.at(-1)?.holder).toBe('');
    await untilHandedOver('released', leader, since);
    expect(writesOf(leader, released.at(-1)?.at ?? since)).toEqual([]);
    leader.start();
  });

  it('ends on SIGTERM although the seed does not respond', async () => {
    const leader = await untilLeads(Date.now());
    const since = Date.now();
    leader.proxy.cutOff('swallow');
    leader.program().signal('SIGTERM');
    expect(await leader.program().ended, leader.program().output()).toBe(0);
    handOvers.push(`SIGTERM while cut off: ended after ${String(Date.now() - since)} ms`);
    leader.proxy.heal();
    await untilHandedOver('ended while cut off', leader, since);
    leader.start();
  });

  it('does not release the Lease while a write is pending', async () => {
    const leader = await untilLeads(Date.now());
    const write = holdNextWrite(leader);
    await write.held;
    const since = Date.now();
    leader.program().signal('SIGTERM');
    expect(await leader.program().ended, leader.program().output()).toBe(0);
    handOvers.push(`SIGTERM in a write that hangs: ended after ${String(Date.now() - since)} ms`);
    const released = leaseWrites(audit.requests()).filter(({ user, holder }) => user === leader.user && holder === '');
    expect(
      released.filter(({ at }) => at >= since),
      leader.program().output(),
    ).toEqual([]);
    write.release();
    await write.status;
    await untilHandedOver('ended in a write', leader, since);
    leader.start();
  });

  it('needs only the right to create Leases, and to get and update its own', () => {
    const requests = audit.requests().filter((request) => users.includes(request.user) && toElectionLease(request));
    expect(new Set(requests.map(({ verb }) => verb))).toEqual(new Set(['create', 'get', 'update']));
    expect(requests.filter(({ status }) => status === 403 || status === 401)).toEqual([]);
  });

  it('never had two writers', () => {
    const late = outOfTerm();
    expect(late.filter(({ status }) => status !== 409)).toEqual([]);
    // The delayed write, refused by its precondition.
    expect(late.length).toBeLessThanOrEqual(1);
  });
});
