import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { RbacRule } from '../../envtest/access.ts';
import { startProgram } from './program.ts';

/** Returns the rights in all namespaces that `dwd manifests` prints for a configuration of the prober; with `Role`, also those in its own namespace. */
export const printedRules = async (
  configFile: string,
  component: 'prober' | 'operator' = 'prober',
  kinds: readonly string[] = ['ClusterRole'],
): Promise<readonly RbacRule[]> => {
  const program = startProgram(['manifests', `--component=${component}`, `--config-file=prober=${configFile}`]);
  expect(await program.ended).toBe(0);
  const objects = parseAllDocuments(program.stdout()).map(
    (document) => document.toJS() as { readonly kind: string; readonly rules: readonly RbacRule[] },
  );
  return objects.flatMap(({ kind, rules }) => (kinds.includes(kind) ? rules : []));
};
