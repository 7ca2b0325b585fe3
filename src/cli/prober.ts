import { type ProberSettings, proberConfig } from '../prober/index.ts';
import type { ProcessDeps } from '../process/index.ts';
import type { Command } from './command.ts';
import { componentCommand } from './component.ts';

export type RunProber = (deps: ProcessDeps<ProberSettings>) => Promise<number>;

const description = `Probes the control planes of all shoots of a seed. When the kubelets of a shoot can no longer reach their API server while the API server itself is well, the configured controllers are scaled to 0 before they mark healthy nodes as dead, and back up when the kubelets are back.`;

export const proberCommand = (run: RunProber): Command =>
  componentCommand({
    summary: 'protect the worker nodes of all shoots of a seed',
    description,
    config: proberConfig,
    run,
  });
