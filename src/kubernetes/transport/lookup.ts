import type { LookupAddress } from 'node:dns';
import type { Clock } from '../../ports/clock.ts';

/** Resolves a host name to its addresses. Rejects with Node's own error. */
export type Lookup = (host: string, clock: Pick<Clock, 'timer'>) => Promise<LookupAddress[]>;

/** After this wait for DNS, in milliseconds, the addresses that it gave before are used. */
const slowMs = 1_000;
/** Maximum number of names whose addresses are kept. */
const mostNames = 10_000;

/**
 * Shares lookups that block, cannot be aborted, and are few at a time (libuv's threads): DNS that hangs for some names must not keep connections to others
 * waiting. All who wait for a name share one lookup. If DNS is slow or does not answer, they get the addresses that it gave last; a later answer replaces these.
 * That a name is unknown is an answer, too.
 */
export const shareLookups = (resolve: (host: string) => Promise<LookupAddress[]>): Lookup => {
  const inFlight = new Map<string, Promise<LookupAddress[]>>();
  /** The last addresses by name, the oldest answer first. */
  const known = new Map<string, LookupAddress[]>();

  const ask: Lookup = (host, clock) =>
    new Promise((settle, reject) => {
      const settleWithKnown = (): void => {
        const found = known.get(host);
        if (found !== undefined) settle(found);
      };
      const cancel = clock.timer(slowMs, settleWithKnown);
      const end = (): void => {
        cancel();
        inFlight.delete(host);
      };
      const succeed = (found: LookupAddress[]): void => {
        end();
        settle(found);
        known.delete(host);
        known.set(host, found);
        for (const oldest of known.keys()) {
          if (known.size <= mostNames) break;
          known.delete(oldest);
        }
      };
      resolve(host).then(succeed, (error: unknown) => {
        end();
        if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') known.delete(host);
        else settleWithKnown();
        reject(error);
      });
    });

  return (host, clock) => {
    const asked = inFlight.get(host) ?? ask(host, clock);
    inFlight.set(host, asked);
    return asked;
  };
};
