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

const description = `Removes what dwd install, kubectl apply or Helm has installed, of whatever version. Before that it stops the prober, restores what meltdown protection holds at 0, each shoot in order, and waits for it: an outage that is still under way does its harm then.

If something would stay at 0, nothing is removed and the prober runs again; --force removes all the same and says what stays. The namespace is left.`;

const flags = {
  component: flag(
    choices('component', manifestParts),
    manifestParts.join(','),
    `What to remove, separated by commas: ${manifestParts.join(', ')}`,
  ),
  namespace: flag(namespaceName, 'garden', 'Where it runs', 'n'),
  force: flag(bool, 'false', 'Remove it although something stays at 0'),
  ...clusterFlags('5m'),
  output: outputFlag(),
} as const;

export const uninstallCommand = (run: RunUninstall): Command =>
  defineCommand({
    name: 'uninstall',
    summary: 'restore what is held, and remove what is installed',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const { namespace, component, force, output } = given;
      const result = await run({ ...clusterCommandOf(given, io), namespace, components: component, force });
      io.stdout(formatUninstalled(valueOf(result, io), { format: output, dryRun: given['dry-run'], namespace }));
      return 0;
    },
  });
