import { type ProberSettings, type Standby, proberConfig } from '../prober/index.ts';
import type { NotifySettings } from '../prober/notify/index.ts';
import type { BindAddress, ProcessDeps } from '../process/index.ts';
import { type Command, defineCommand } from './command.ts';
import { address, choice, text } from './flag-types.ts';
import { launch } from './launch.ts';
import { notifySettings } from './notify.ts';
import { flag, optionalFlag } from './parse-flags.ts';
import { processFlags } from './process-flags.ts';

export interface ProberDeps extends ProcessDeps<ProberSettings> {
  readonly standby: Standby;
  /** Absent if changes of state are not posted anywhere. */
  readonly notify?: NotifySettings | undefined;
  /** Absent if the page is turned off. */
  readonly pageBindAddress?: BindAddress;
}

export type RunProber = (deps: ProberDeps) => Promise<number>;

const description = `Probes the control planes of all shoots of a seed. When the kubelets of a shoot can no longer reach their API server while the API server itself is well, the configured controllers are scaled to 0 before they mark healthy nodes as dead, and back up when the kubelets are back.`;

export const proberFlags = {
  ...processFlags,
  standby: flag(
    choice<Standby>('mode', ['hot', 'warm', 'cold']),
    'hot',
    'What a replica does while another leads: hot observes, and scales down when the leader does not; warm observes; cold waits',
  ),
  'notify-url': optionalFlag(
    text('url', 'an http or https URL, file:PATH or env:NAME'),
    'Where each change of state of a shoot is posted to, as JSON. A URL that is a secret comes from a file (file:PATH) or a variable (env:NAME)',
  ),
  'notify-template': optionalFlag(
    text('file', 'the path of a file'),
    'JSON with places for fields, which is posted instead, such as {"text": "{{shoot}} is {{state}}"}',
  ),
  'page-bind-addr': flag(
    address,
    '0',
    'Where a page with all shoots of the seed is served, to whoever reaches it; 0 turns it off',
  ),
} as const;

export const proberCommand = (run: RunProber): Command =>
  defineCommand({
    name: 'prober',
    summary: 'protect the worker nodes of all shoots of a seed',
    description,
    flags: proberFlags,
    operands: 'ignored',
    run: (invocation, io) => {
      const {
        standby,
        'notify-url': url,
        'notify-template': template,
        'page-bind-addr': pageBindAddress,
      } = invocation.flags;
      const component = {
        config: proberConfig,
        run: async (deps: ProcessDeps<ProberSettings>) =>
          run({
            ...deps,
            standby,
            notify: await notifySettings({ url, template }, io),
            ...(pageBindAddress && { pageBindAddress }),
          }),
      };
      return launch(component, { ...invocation, io });
    },
  });
