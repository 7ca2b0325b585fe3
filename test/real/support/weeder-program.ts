import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { weederRules } from './pods.ts';
import { type Program, startProgram } from './program.ts';

/** Starts `dwd weeder` as the user `weeder`, with a configuration file in `directory`. */
export const startWeederProgram = async (seed: ControlPlane, directory: string, config: string): Promise<Program> => {
  const configFile = join(directory, 'weeder.yaml');
  writeFileSync(configFile, config);
  const { file } = await seed.kubeconfigFor({ user: 'weeder', rules: weederRules });
  return startProgram([
    'weeder',
    `--config-file=${configFile}`,
    `--kubeconfig=${file}`,
    '--metrics-bind-addr=0',
    '--health-bind-addr=0',
  ]);
};
