import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../envtest/control-plane.ts';
import type { CustomKind } from '../../envtest/crds.ts';
import { waitFor } from '../../envtest/waiting.ts';
import { auditInto } from './audit.ts';
import { type Running, type Variant, accessOf, nameOf, refusedTo, startVariant } from './without-right.ts';

/** The outcome of each variant, by the name of its missing right. */
export type RightsOutcomes = Readonly<Record<string, string>>;

/** One control plane as seed, garden and shoot, for many variants of a component at the same time. */
export interface RightsHarness {
  readonly plane: ControlPlane;
  readonly directory: string;
  /** Returns the running variants, in the order of `start`. */
  running(): readonly Running[];
  /** Starts all variants, some at a time. Resolves when each has verified its rights. */
  start(component: string, variants: readonly Variant[], of: LaunchOf): Promise<void>;
  /** Waits until all running variants have the expected outcomes; fails with the actual ones. Blind watches delay a restoration by 90 s. */
  until(what: string, expected: RightsOutcomes, fateOf: (running: Running) => Promise<string>): Promise<void>;
  /** Expects that each permission check names exactly the missing right, and that the API server refuses exactly that one, unless it `maybeUnused`. */
  expectNamedAndRefused(maybeUnused?: readonly string[]): Promise<void>;
  stopAll(): Promise<void>;
  stop(): Promise<void>;
}

export interface Launch {
  readonly config: string;
  readonly kubeconfig?: string;
  readonly flags?: readonly string[];
}
type LaunchOf = (variant: Variant) => Launch | Promise<Launch>;

/** Limited because all variants share one process: if all started at once, none would be ready in time. */
const startingAtOnce = 8;

const isChecked = ({ program, variant: { removed } }: Running): boolean => {
  const has = (pattern: RegExp): boolean => program.lines().some(({ msg }) => pattern.test(msg ?? ''));
  // A replica without the right to renew its Lease loses it only after a while. Its work until then proves nothing.
  return has(/^(?:no|a) right is missing/) && (removed?.verb !== 'update' || has(/^stopped leading/));
};

const untilChecked = (started: Running): Promise<unknown> =>
  waitFor({ what: `the check of rights, without ${nameOf(started.variant)}`, withinMs: 60_000 }, () =>
    isChecked(started),
  );

/** Runs the action for all variants, `startingAtOnce` at a time. */
const forEachOf = async (variants: readonly Variant[], action: (variant: Variant) => Promise<void>): Promise<void> => {
  const waiting = variants.values();
  const runSome = async (): Promise<void> => {
    for (const variant of waiting) await action(variant);
  };
  await Promise.all(Array.from({ length: startingAtOnce }, runSome));
};

/** Expects that the API server refuses to each variant exactly its missing right. */
const expectRefused = async (audit: ReturnType<typeof auditInto>, used: readonly Running[]): Promise<void> => {
  const refused = (): readonly (readonly [name: string, what: readonly string[]])[] => {
    const requests = audit.requests();
    return used.map(({ variant }) => [nameOf(variant), refusedTo(variant, requests)]);
  };
  const expected = used.map(({ variant }) => [nameOf(variant), variant.removed ? [nameOf(variant)] : []]);
  // A variant may need its missing right only after it has reached its outcome.
  await waitFor({ what: 'refusals', withinMs: 60_000, everyMs: 300 }, () =>
    isDeepStrictEqual(refused(), expected),
  ).catch(() => undefined);
  expect(refused()).toEqual(expected);
};

export const startRightsHarness = async (kinds?: readonly CustomKind[]): Promise<RightsHarness> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-rights-'));
  const audit = auditInto(directory);
  const plane = await startControlPlane({
    name: 'all-in-one',
    apiServerFlags: audit.flags,
    ...(kinds === undefined ? {} : { kinds }),
  });
  let running: Running[] = [];

  const stopAll = async (): Promise<void> => {
    await Promise.all(running.map(({ program }) => program.stop()));
    running = [];
  };

  return {
    ...{ plane, directory },
    running: () => running,
    start: async (component, variants, of) => {
      await forEachOf(variants, async (variant) => {
        const launch = await of(variant);
        const kubeconfig = launch.kubeconfig ?? (await accessOf(plane, variant, 'seed'));
        const started = startVariant({ component, variant, directory, ...launch, kubeconfig });
        running.push(started);
        await untilChecked(started);
      });
      running.sort((a, b) => variants.indexOf(a.variant) - variants.indexOf(b.variant));
    },
    until: async (what, expected, fateOf) => {
      let last: RightsOutcomes = {};
      await waitFor({ what, withinMs: 150_000, everyMs: 300 }, async () => {
        const fates = running.map(async (one) => [nameOf(one.variant), await fateOf(one)] as const);
        last = Object.fromEntries(await Promise.all(fates));
        return Object.entries(last).every(([name, fate]) => expected[name] === fate);
      }).catch(() => undefined);
      expect(last, what).toEqual(expected);
    },
    expectNamedAndRefused: async (maybeUnused = []) => {
      await expectRefused(
        audit,
        running.filter(({ variant }) => !maybeUnused.includes(nameOf(variant))),
      );
      for (const { variant, named } of running) {
        const { is, expected: toBeNamed } = named();
        expect(is.toSorted(), `named, without ${nameOf(variant)}`).toEqual(toBeNamed.toSorted());
      }
    },
    stopAll,
    stop: async () => {
      await stopAll();
      await plane.stop();
      rmSync(directory, { recursive: true });
    },
  };
};
