import {
  CommandError,
  defaultBurst,
  defaultQps,
  formatDocument,
  type CliIo,
  type RunRehearse,
  UsageError,
} from '../../src/cli/index.ts';
import { formatProblem } from '../../src/config/index.ts';
import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { proberConfig } from '../../src/prober/index.ts';
import { planRehearsal, rehearse, tellRehearsal } from '../rehearsal/index.ts';

const loadSettings = async (file: string, io: CliIo) => {
  let config: string;
  try {
    config = await io.readFile(file);
  } catch (error) {
    throw new CommandError(`cannot read --config-file ${file}: ${(error as Error).message}`);
  }
  const { settings, problems } = proberConfig.load(config, { unknownFields: 'warning', looked: 'ahead' });
  const lines = problems.map((problem) => formatProblem(file, problem));
  if (settings === undefined) throw new CommandError('the configuration is not valid', lines);
  return { settings, warnings: lines };
};

/** `dwd rehearse` */
export const runRehearse: RunRehearse = async (values, io) => {
  const { shoots, nodes, fault, seed, output, duration: durationMs } = values;
  const { settings, warnings } = await loadSettings(values['config-file'], io);
  const limits = { qps: values['kube-api-qps'] || defaultQps, burst: values['kube-api-burst'] || defaultBurst };
  const plan = planRehearsal({ settings, shoots, nodes, fault, durationMs, seed, limits });
  if (!plan.ok) throw new UsageError(plan.error);
  for (const warning of warnings) io.stderr(`${warning}\n`);
  const { progress } = io;
  const rehearsal = await rehearse(plan.value, ({ isProtected, playedMs }) => {
    const how = isProtected ? 'with' : 'without';
    progress?.show(`rehearsing ${how} protection: ${formatGoDuration(playedMs)} of ${formatGoDuration(durationMs)}`);
  });
  progress?.clear();
  io.stdout(output === 'table' ? tellRehearsal(rehearsal) : formatDocument(rehearsal, output));
  return rehearsal.isProtected ? 0 : 1;
};
