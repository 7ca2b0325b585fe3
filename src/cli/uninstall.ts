import type { CommandFailure, Uninstalled as UninstallReport, UninstallRun } from '../install/index.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { clusterCommandOf, clusterFlags, valueOf } from './cluster-command.ts';
import { type Command, defineCommand } from './command.ts';
import { bool, choices, namespaceName } from './flag-types.ts';
import { flag } from './parse-flags.ts';
import { formatUninstalled } from './install-output.ts';
import { manifestParts } from './manifests/render.ts';
import { outputFlag } from './output.ts';

export type RunUninstall = (run: UninstallRun) => Promise<Result<UninstallReport, CommandFailure>>;

const description = `Removes an installation of any version, made by dwd install, kubectl apply or Helm. It first stops the prober, restores the held resources of each shoot, level by level, and waits until they are ready. From then on nothing protects the shoots, not even in an ongoing outage.

If a resource would stay at 0, it removes nothing and starts the prober again; with --force it removes the installation nevertheless and lists these resources. The namespace stays.`;

const flags = {
  component: flag(
    choices('component', manifestParts),
    manifestParts.join(','),
    `Comma-separated list of components to remove: ${manifestParts.join(', ')}`,
  ),
  namespace: flag(namespaceName, 'garden', 'Namespace of the installation', 'n'),
  force: flag(bool, 'false', 'Remove the installation even if resources stay at 0'),
  ...clusterFlags('5m'),
  output: outputFlag(),
} as const;

export const uninstallCommand = (run: RunUninstall): Command =>
  defineCommand({
    name: 'uninstall',
    summary: 'restore held resources and remove an installation',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const { namespace, component, force, output } = given;
      const result = await run({ ...clusterCommandOf(given, io), namespace, components: component, force });
      io.stdout(formatUninstalled(valueOf(result, io), { format: output, dryRun: given['dry-run'], namespace }));
      return 0;
    },
  });
