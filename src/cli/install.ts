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

const description = `Installs components in a cluster: applies the objects that dwd manifests prints (server-side apply, field manager dwd), waits until the pods are ready and one of each component leads, removes the objects that only an older version had, and checks the rights. Run it again to upgrade, to roll back, or to change the configuration: it changes only what differs, and resources that are held in an ongoing outage stay held.

If another field manager has set a field to another value, dwd install reports the conflict and changes nothing, unless --force-conflicts is given.

Exits with 0 on success, and with 1 if a step or a check failed.`;

/** `dwd install` works in a seed, and `shoot-access` is applied in a shoot. */
const isForSeed = (component: string): boolean => component !== 'shoot-access';
const installable = manifestParts.filter(isForSeed);

const flags = {
  ...manifestFlags,
  component: flag(
    choices('component', installable),
    'prober,weeder',
    `Comma-separated list of components to install: ${installable.join(', ')}`,
  ),
  'create-namespace': flag(
    bool,
    'false',
    'Create the namespace if it does not exist; dwd uninstall does not remove it',
  ),
  'force-conflicts': flag(bool, 'false', 'Take over fields that other field managers have set to other values'),
  'beside-other-prober': flag(bool, 'false', 'Install a prober even if another one is active in another namespace'),
  ...clusterFlags('2m'),
  output: outputFlag(),
} as const;

export const installCommand = (run: RunInstall): Command =>
  defineCommand({
    name: 'install',
    summary: 'install or upgrade components in a cluster',
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
