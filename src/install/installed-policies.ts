import { type InstallContext, InstallError } from './context.ts';
import { listInstalled } from './inventory.ts';
import { type InstalledComponent, type KubeObject, nameOf } from './object.ts';

const component = 'policy';

/**
 * Returns the admission policies to upgrade with the components, if policies are installed already: a policy of an earlier configuration would
 * refuse writes that the new one needs. Throws an InstallError if the installed policies are not those that these flags describe.
 */
export const installedPolicies = async (
  { namespace, policies }: { readonly namespace: string; readonly policies: readonly KubeObject[] },
  context: InstallContext,
): Promise<readonly InstalledComponent[]> => {
  if (policies.length === 0) return [];
  const installed = await listInstalled({ namespace, components: [component] }, context);
  if (installed.length === 0) return [];
  const names = new Set(installed.map(nameOf));
  const missing = policies.filter((policy) => !names.has(nameOf(policy)));
  // Bindings stay as they are: their action for a violation was chosen when the policies were installed.
  const rules = policies.filter(({ kind }) => !kind.endsWith('Binding'));
  if (missing.length === 0) return [{ component, objects: rules }];
  throw new InstallError('the installed admission policies are not those that these flags describe', [
    ...missing.map((policy) => `${nameOf(policy)} is not installed`),
    'use the flags with which they were installed, or replace them with --component prober,weeder,policy',
  ]);
};
