import type { Clock } from '../../src/ports/clock.ts';
import type { World, WorldShoot } from '../world/index.ts';
import { type End, type FaultOf, type Handlers, inShoot, repeat, shootsOf } from './faults.ts';

/** Faults of pods of control planes. */
export const podFaults = (world: World, clock: Clock): Handlers<'etcd' | 'crash'> => {
  /** Components whose programs exit, by shoot. */
  const crashing = new Map<string, string[]>();
  /** Number of active faults that keep etcd down, by shoot. */
  const away = new Map<string, number>();

  const keepEtcdAway = (shoot: WorldShoot, by: 1 | -1): void => {
    const count = (away.get(shoot.name) ?? 0) + by;
    away.set(shoot.name, count);
    if (count > 0) shoot.breakEtcd();
    else shoot.mendEtcd();
  };

  const loseEtcd = ({ shoot: name, everyMs }: FaultOf<'etcd'>): End => {
    let isAway = false;
    const set = (next: boolean): void => {
      if (next === isAway) return;
      isAway = next;
      for (const shoot of shootsOf(world, name)) keepEtcdAway(shoot, next ? 1 : -1);
    };
    const stop = everyMs === undefined ? undefined : repeat(clock, everyMs, () => set(!isAway));
    if (stop === undefined) set(true);
    return () => {
      stop?.();
      set(false);
    };
  };

  const crash = (shoot: WorldShoot, component: string): End => {
    const all = crashing.get(shoot.name) ?? [];
    crashing.set(shoot.name, all);
    all.push(component);
    shoot.crash(all);
    return () => {
      all.splice(all.indexOf(component), 1);
      shoot.crash(all);
    };
  };

  return { etcd: loseEtcd, crash: inShoot(world, (shoot, { component }) => crash(shoot, component)) };
};
