import { availableParallelism, cpus, release } from 'node:os';

/** Short description of the machine on which the benchmark runs. */
export const machine = (): string => {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${String(availableParallelism())} x ${model}, Linux ${release()}, Node ${process.version}`;
};
