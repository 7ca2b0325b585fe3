import type { Result } from '../kubernetes/api/errors.ts';
import type { PreflightReport, PreflightRun, RightsOf } from '../preflight/index.ts';
import { clusterCommandOf, clusterFlags } from './cluster-command.ts';
import { type Command, defineCommand } from './command.ts';
import { type FlagType, bool, namespaceName, shootName, shootNames, text } from './flag-types.ts';
import { flag, optionalFlag, requiredFlag } from './parse-flags.ts';
import { outputFlag } from './output.ts';
import { formatPreflight, inColour } from './preflight-output.ts';
import { loadProberFile } from './prober-file.ts';

export type RunPreflight = (run: PreflightRun) => Promise<Result<PreflightReport, string>>;

const description = `Checks a seed against a configuration of the prober, before it runs there or while it does: are the kinds served, has the prober its rights, has each shoot its Secret and its dependent resources, does its KCM wait for as long as the configuration says, does its API server answer, and do clocks agree. Shoots that are not probed, such as hibernated ones, are counted and not checked. It reads, and writes nothing; dwd validate checks a file without a cluster. Configurations of the weeder and of care are not taken.

Prints one line per check, and what is not well at the end, worst first, each with a code, what to do, and a link to its paragraph in docs/preflight.md.

The API servers of shoots may not be reached from this machine: run it in a pod of the prober, or leave them out. Exits with 0 when all is well, with 1 when something is not, and with 2 when nothing is wrong as far as could be told, and something could not be checked.`;

type RightsSubject = RightsOf | 'none';

/** Pattern for the name of a ServiceAccount, a DNS subdomain (ValidateServiceAccountName in k8s.io/kubernetes/pkg/apis/core/validation). */
const accountName = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;

const rightsSubject: FlagType<RightsSubject> = {
  placeholder: 'account',
  takes: 'the NAMESPACE/NAME of a ServiceAccount, self or none',
  parse: (word) => {
    if (word === 'self' || word === 'none') return { value: word };
    const [namespace = '', name = '', ...more] = word.split('/');
    const isRight = namespaceName.parse(namespace) !== undefined && name.length <= 253 && accountName.test(name);
    return isRight && more.length === 0 ? { value: { namespace, name } } : undefined;
  },
};

const { kubeconfig, timeout } = clusterFlags('2m');

const flags = {
  'config-file': requiredFlag(text('path', 'the path of the configuration file'), 'Configuration of the prober'),
  shoot: optionalFlag(shootName, `The only shoot to look at: ${shootNames}`),
  'shoot-api-servers': flag(
    bool,
    'true',
    'Ask the API servers of the shoots as well, with the kubeconfigs of the prober',
  ),
  'rights-of': flag(
    rightsSubject,
    'garden/dwd-prober',
    "Whose rights in the seed are checked: a ServiceAccount, your own (self), or nobody's (none), as before an installation",
  ),
  kubeconfig,
  timeout: { ...timeout, description: 'How long all of it may take together; what is left then is not checked' },
  output: outputFlag(),
} as const;

export const preflightCommand = (run: RunPreflight): Command =>
  defineCommand({
    name: 'preflight',
    summary: 'check a seed and its shoots against a configuration',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const { 'config-file': configFile, 'rights-of': rightsOf, shoot, output } = given;
      const loaded = await loadProberFile(configFile, io);
      const result = await run({
        ...clusterCommandOf({ ...given, 'dry-run': false }, io),
        ...loaded,
        configFile,
        shoot,
        rightsOf: rightsOf === 'none' ? undefined : rightsOf,
        asksShoots: given['shoot-api-servers'],
      });
      io.progress?.clear();
      if (!result.ok) {
        io.stderr(`dwd preflight: ${result.error}\n`);
        return 2;
      }
      io.stdoutStyled(formatPreflight(result.value, output, inColour));
      return result.value.exitCode;
    },
  });
