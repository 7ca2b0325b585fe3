import type { PreflightReport, PreflightRun } from '../preflight/index.ts';
import { type Command, defineCommand } from './command.ts';
import { type FlagType, bool, namespaceName, positiveDuration, shootName, shootNames, text } from './flag-types.ts';
import { flag, optionalFlag, requiredFlag } from './parse-flags.ts';
import { outputFlag } from './output.ts';
import { formatPreflight } from './preflight-output.ts';
import { loadProberFile } from './config-file.ts';
import { accessFlags, sessionOf } from './seed-flags.ts';

export type RunPreflight = (run: PreflightRun) => Promise<PreflightReport>;

const description = `Checks a seed against a configuration of the prober, before the prober is installed or while it runs. The checks are: that the seed serves the kinds, that the prober has its rights, that clocks agree, that an installed one has a leader and one version, and, for each shoot, that its Secret and its dependent resources exist, that its KCM has the configured grace period, how much of it a scale-down leaves, that its API server responds, and that at least two of its nodes count, without which no outage shows. Shoots that are not probed, such as hibernated ones, are counted but not checked. The command only reads. It does not support configurations of the weeder and of care. dwd validate checks a file without a cluster.

Prints one line per check, and then the problems, worst first, each with a code and a remedy.

If this machine cannot reach the API servers of the shoots, run the command in a pod of the prober, or use --shoot-api-servers=false. Exits with 0 if all checks are ok, with 1 if a check found a problem, and with 2 if no problem was found but a check could not be made.`;

/** Pattern for the name of a ServiceAccount, a DNS subdomain (ValidateServiceAccountName in k8s.io/kubernetes/pkg/apis/core/validation). */
const accountName = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;

const rightsSubject: FlagType<PreflightRun['rightsOf']> = {
  placeholder: 'account',
  takes: 'the NAMESPACE/NAME of a ServiceAccount, self or none',
  parse: (word) => {
    if (word === 'self' || word === 'none') return { value: word };
    const [namespace = '', name = '', ...more] = word.split('/');
    const isRight = namespaceName.parse(namespace) !== undefined && name.length <= 253 && accountName.test(name);
    return isRight && more.length === 0 ? { value: { namespace, name } } : undefined;
  },
};

const flags = {
  configFile: requiredFlag(
    text('path', 'the path of the configuration file'),
    "Path of the prober's configuration file",
  ),
  shoot: optionalFlag(shootName, `Check only this shoot, given as ${shootNames}`),
  shootApiServers: flag(bool, 'true', 'Also check the API servers of the shoots, with the kubeconfigs of the prober'),
  rightsOf: flag(
    rightsSubject,
    'garden/dwd-prober',
    'User whose rights in the seed are checked: a ServiceAccount, your own user (self), or nobody (none), for example before an installation',
  ),
  ...accessFlags,
  timeoutMs: flag(
    positiveDuration,
    '2m',
    'Maximum time for all checks together; checks that remain then are reported as unknown',
  ),
  output: outputFlag(),
} as const;

export const preflightCommand = (run: RunPreflight): Command =>
  defineCommand({
    name: 'preflight',
    summary: 'check a seed and its shoots against a configuration',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const loaded = await loadProberFile(given.configFile, io);
      const report = await run({ ...given, ...sessionOf(io), ...loaded });
      io.stdoutStyled(formatPreflight(report, given.output));
      return report.exitCode;
    },
  });
