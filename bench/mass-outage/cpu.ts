import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** USER_HZ, which Linux shows to programs as 100 on all its platforms. */
const ticksPerSecond = 100;

/** CPU seconds that a process has used so far, user and system (fields 14 and 15 of proc_pid_stat(5)); NaN where there is no /proc. */
export const cpuSecondsOf = (pid: number): number => {
  try {
    // The name in field 2 may hold spaces and parentheses.
    const [, rest = ''] = /^.*\)\s(.*)$/s.exec(readFileSync(`/proc/${String(pid)}/stat`, 'utf8')) ?? [];
    const fields = rest.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return Number.NaN;
  }
};

/** CPU seconds that all processes of the machine have used since it started. */
export const cpuSecondsOfAll = (): number =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1_000;
