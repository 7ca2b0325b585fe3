import { availableParallelism, cpus, release } from 'node:os';

/** The machine of a measurement, in a few words. */
export const machine = (): string => {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${String(availableParallelism())} x ${model}, Linux ${release()}, Node ${process.version}`;
};
