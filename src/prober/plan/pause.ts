import type { ShootContext } from './shoot-state.ts';

/** True while a pause forbids scale-downs. Held resources are restored nevertheless. */
export const isPaused = <T extends Pick<ShootContext, 'now' | 'pausedUntil'>>(
  context: T,
): context is T & { readonly pausedUntil: number } =>
  context.pausedUntil !== undefined && context.now < context.pausedUntil;
