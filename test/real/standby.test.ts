import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type Program, startProgram } from './support/program.ts';
import { type SeedWithShoot, kcm, mcm, startSeedWithShoot } from './support/seed-with-shoot.ts';

describeEnvtest('a standby prober', () => {
  let world: SeedWithShoot;
  let kubeconfig = '';
  const started: Program[] = [];

  beforeAll(async () => {
    world = await startSeedWithShoot('standby');
    kubeconfig = await world.proberKubeconfig();
  });

  afterAll(async () => {
    for (const program of started) program.signal('SIGKILL');
    await world.stop();
  });

  const start = (): Program => {
    const flags = [
      '--enable-leader-election',
      '--zap-log-level=debug',
      '--metrics-bind-addr=0',
      '--health-bind-addr=0',
    ];
    const program = startProgram(['prober', `--config-file=${world.configFile('5s')}`, ...flags], {
      KUBECONFIG: kubeconfig,
    });
    started.push(program);
    return program;
  };
  const messages = (program: Program): readonly string[] => program.lines().map(({ msg = '' }) => msg);
  const until = (what: string, program: Program, isSo: (messages: readonly string[]) => boolean): Promise<unknown> =>
    waitFor({ what, everyMs: 200, detail: program.output }, () => isSo(messages(program)));

  it('scales down without the lead when the leader is suspended, and the next leader restores', async () => {
    const leader = start();
    await until('it leads', leader, (known) => known.includes('started leading'));
    const standby = start();
    // By then it has seen each lease renewed: kubelets renew every second, and it probes as often.
    await until('it observes', standby, (known) => known.filter((message) => message === 'probe run').length >= 6);
    const at = Date.now();
    world.kubelets.cut();
    // The leader is suspended shortly before it would act, so that its Lease outlasts the time that the standby gives it.
    const runs = (): number => messages(standby).filter((message) => message === 'probe run').length;
    const runsBefore = runs();
    await until('it has watched the outage', standby, () => runs() >= runsBefore + 6);
    leader.signal('SIGSTOP');
    await world.untilCounts(0, 0);
    const known = messages(standby);
    const before = known.slice(0, known.indexOf('scaled down'));
    expect(before).toContainEqual(expect.stringMatching(/^protecting without the lead: /));
    expect(before).not.toContain('started leading');
    leader.signal('SIGCONT');
    world.kubelets.connect();
    await world.untilCounts(2, 3);
    const counts = world.countsSince(at).map((line) => line.replace(/^\S+ /, ''));
    expect(counts).toEqual([`${mcm} 0`, `${kcm} 0`, `${kcm} 2`, `${mcm} 3`]);
  });
});
