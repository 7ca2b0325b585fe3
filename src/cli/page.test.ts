import { expect, it } from 'vitest';
import type { PageRun } from '../status/index.ts';
import { dwdWith } from './testing/dwd.ts';

const noProber = async (): Promise<number> => expect.unreachable('no prober is started');

it('prints the address of the page, and a reason why it fails later only when that changes', async () => {
  const runs: PageRun[] = [];
  const { code, stdout, stderr } = await dwdWith(noProber, ['page', '-n', 'dwd', '--page-port=1', '--local-port=2'], {
    runPage: async (run) => {
      runs.push(run);
      run.onOpen(new URL('http://127.0.0.1:2'), 'the leader, dwd-prober-a (no standby)');
      for (const problem of ['gone', 'gone', 'refused', 'gone']) {
        run.onProblem(problem);
      }
    },
  });
  expect(runs).toMatchObject([{ namespace: 'dwd', selector: 'app=dwd-prober', pagePort: 1, localPort: 2 }]);
  expect(stdout).toBe(
    'http://127.0.0.1:2/ shows the page of the leader, dwd-prober-a (no standby); Ctrl-C ends that\n',
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'dwd page: gone\ndwd page: refused\ndwd page: gone\n' });
});
