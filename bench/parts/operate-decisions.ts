import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DecisionLog } from '../../src/prober/report/decision-log.ts';

const decisionsEach = 50;

/** Heap size of live objects, in bytes. */
const heapBytes = (): number => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
};

const filledLog = (shoot: number): DecisionLog => {
  const log = new DecisionLog();
  for (let at = 0; at < decisionsEach; at += 1) {
    const reason = `shoot ${String(shoot)}: ${String(at)}/${String(decisionsEach)} node leases expired, threshold 0.6`;
    // Two equal verdicts in a row would be one decision.
    const verdict = at % 2 === 0 ? 'unhealthy' : 'healthy';
    log.add({ at, verdict, reason, counts: { candidates: decisionsEach, expired: at }, threshold: 0.6 });
  }
  return log;
};

/** Heap size, in bytes, of the decision logs of that many shoots, each with the maximum number of decisions. */
export const bytesOfDecisions = (shoots: number): number => {
  const before = heapBytes();
  const logs = Array.from({ length: shoots }, (_, shoot) => filledLog(shoot));
  const bytes = Math.max(0, heapBytes() - before);
  if (logs.some((log) => log.all().length !== decisionsEach)) throw new Error('decisions were joined');
  return bytes;
};
