import { readFileSync } from 'node:fs';
import type { RbacRule } from '../../envtest/access.ts';
import { objectsIn, proberValues, renderChart } from './helm.ts';

/** Returns the rights in all namespaces that the chart grants to the prober with a configuration. */
export const printedRules = async (configFile: string): Promise<readonly RbacRule[]> => {
  const rendered = await renderChart({
    values: { prober: proberValues(readFileSync(configFile, 'utf8')) },
    flags: ['--show-only=templates/prober-rbac.yaml'],
  });
  return objectsIn(rendered).flatMap(({ rules = [] }) => rules);
};
