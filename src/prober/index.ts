export { adviceOn } from './config-advice.ts';
export { proberConfig } from './config.ts';
export { findHeldOf, heldName } from './held.ts';
export { listHeld, releaseHeld } from './release-held.ts';
export { foreseeRelease } from './release-result.ts';
export { type PluralOf, neededByProber, proberGrants, proberShootGrants, secretNames } from './rights.ts';
export type { DependentResource, ExternalProbeMode, ExternalProbeSettings, ProberSettings } from './settings.ts';
export { type ProberPorts, createProber, proberComponent, startProber } from './setup.ts';
