import { careConfig } from '../care/index.ts';
import { type ComponentConfig, type ComponentName, componentNames } from '../config/index.ts';
import { proberConfig } from '../prober/index.ts';
import { weederConfig } from '../weeder/index.ts';
import { choice } from './flag-types.ts';

/** The configuration of every component that runs as a process. */
export const configs: Readonly<Record<ComponentName, ComponentConfig<unknown>>> = {
  prober: proberConfig,
  weeder: weederConfig,
  care: careConfig,
};

export const componentType = choice<ComponentName>('component', componentNames);
