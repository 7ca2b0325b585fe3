import { componentNames } from '../config/index.ts';
import type { CommandFailure, InstallReport, InstallRun } from '../install/index.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { clusterCommandOf, clusterFlags, valueOf } from './cluster-command.ts';
import { type Command, defineCommand } from './command.ts';
import { bool, choices } from './flag-types.ts';
import { flag } from './parse-flags.ts';
import { formatInstalled } from './install-output.ts';
import { manifestFlags } from './manifests/flags.ts';
import { installationFrom } from './manifests/options.ts';
import { policies } from './manifests/policy.ts';
import { manifestParts, renderManifests } from './manifests/render.ts';
import { outputFlag } from './output.ts';

export type RunInstall = (run: InstallRun) => Promise<Result<InstallReport, CommandFailure>>;

const description = `Installs the components in a cluster: applies what dwd manifests prints (server-side, as field manager dwd), waits until the pods are ready and one of them leads, removes what an older version had, and checks the rights. Run it again to upgrade, to roll back and to change the configuration: it changes what differs and nothing else, and what is held in an outage under way stays held.

Fields that other managers have set otherwise are left to them, and nothing is changed then, unless --force-conflicts takes them over.

It ends with 0 when all is well, and with 1 when something could not be done or a check failed.`;

/** `dwd install` works in a seed, and `shoot-access` is applied in a shoot. */
const isForSeed = (component: string): boolean => component !== 'shoot-access';
const installable = manifestParts.filter(isForSeed);

const flags = {
  ...manifestFlags,
  component: flag(
    choices('component', installable),
    'prober,weeder',
    `What to install, separated by commas: ${installable.join(', ')}`,
  ),
  'create-namespace': flag(bool, 'false', 'Create the namespace if it is not there; dwd uninstall leaves it'),
  'force-conflicts': flag(bool, 'false', 'Take over fields that other managers have set otherwise'),
  'beside-other-prober': flag(bool, 'false', 'Install a prober although one is active in another namespace'),
  ...clusterFlags('2m'),
  output: outputFlag(),
} as const;

export const installCommand = (run: RunInstall): Command =>
  defineCommand({
    name: 'install',
    summary: 'install components in a cluster, or upgrade them',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const { namespace, component: chosen, output } = given;
      const installation = await installationFrom(given, io);
      const result = await run({
        ...clusterCommandOf(given, io),
        namespace,
        createNamespace: given['create-namespace'],
        forceConflicts: given['force-conflicts'],
        besideOtherProber: given['beside-other-prober'],
        components: chosen.map((component) => ({ component, objects: renderManifests(installation, [component]) })),
        policies: chosen.includes('policy') ? [] : policies(installation, chosen),
        settings: Object.fromEntries(
          componentNames
            .filter((component) => chosen.some((one) => one === component))
            .map((component) => [component, installation[component].settings]),
        ),
      });
      const report = valueOf(result, io);
      io.stdout(formatInstalled(report, { format: output, dryRun: given['dry-run'] }));
      return report.checks.some(({ status }) => status === 'failed') ? 1 : 0;
    },
  });
