import { careConfig } from '../care/index.ts';
import type { ComponentName } from '../config/index.ts';
import { proberConfig } from '../prober/index.ts';
import { weederConfig } from '../weeder/index.ts';
import { choice } from './flag-types.ts';
import { requiredFlag } from './flags.ts';

/** The configuration of every component that runs as a process. */
export const configs = { prober: proberConfig, weeder: weederConfig, care: careConfig } as const;

export const configComponentFlag = requiredFlag(
  choice<ComponentName>('component', ['prober', 'weeder', 'care']),
  'Whose configuration it is: prober, weeder or care',
);
