import { type InstallContext, InstallError } from './context.ts';
import { listInstalled } from './inventory.ts';
import { type InstalledComponent, type KubeObject, nameOf } from './object.ts';

const component = 'policy';

/**
 * The admission policies of the components that are installed, where policies are installed already: one of an earlier configuration would
 * refuse what this one does. Throws an InstallError where others are installed than these flags describe.
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
  // What becomes of a wrong request stands in the bindings: it was chosen when the policies were installed.
  const rules = policies.filter(({ kind }) => !kind.endsWith('Binding'));
  if (missing.length === 0) return [{ component, objects: rules }];
  throw new InstallError('the admission policies that are installed are not those of these flags', [
    ...missing.map((policy) => `${nameOf(policy)} is not among them`),
    'give the flags that they were installed with; or replace them: --component prober,weeder,policy',
  ]);
};
