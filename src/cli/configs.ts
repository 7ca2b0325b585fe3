import { type CareSettings, careConfig } from '../care/index.ts';
import { type ComponentConfig, type ComponentName, componentNames } from '../config/index.ts';
import { type ProberSettings, proberConfig } from '../prober/index.ts';
import { type WeederSettings, weederConfig } from '../weeder/index.ts';
import { choice } from './flag-types.ts';
import { requiredFlag } from './parse-flags.ts';

export interface SettingsByComponent {
  readonly prober: ProberSettings;
  readonly weeder: WeederSettings;
  readonly care: CareSettings;
}

/** The configuration of every component that runs as a process. */
export const configs: { readonly [Name in ComponentName]: ComponentConfig<SettingsByComponent[Name]> } = {
  prober: proberConfig,
  weeder: weederConfig,
  care: careConfig,
};

export const componentType = choice<ComponentName>('component', componentNames);

export const configComponentFlag = requiredFlag(
  componentType,
  `Component that the configuration is for: ${componentType.takes}`,
);
