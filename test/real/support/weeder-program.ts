import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { weederGrants } from '../../../src/weeder/component.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { type Program, startProgram } from './program.ts';
import { rulesOf } from './rights.ts';

/** Starts `dwd weeder` as the user `weeder` with the rights that it declares, with a configuration file in `directory`. */
export const startWeederProgram = async (seed: ControlPlane, directory: string, config: string): Promise<Program> => {
  const configFile = join(directory, 'weeder.yaml');
  writeFileSync(configFile, config);
  const { file } = await seed.kubeconfigFor({ user: 'weeder', rules: rulesOf(weederGrants) });
  return startProgram([
    'weeder',
    `--config-file=${configFile}`,
    `--kubeconfig=${file}`,
    '--metrics-bind-addr=0',
    '--health-bind-addr=0',
  ]);
};
