import { type PreflightCheck, type SeedRead, whenRead } from './check.ts';

export interface SeedAnswer {
  /** Kubernetes version, such as `v1.33.2`. */
  readonly version: string;
  readonly roundTripMs: number;
  /** The seed's clock minus ours, within 1.5 s. Absent if the response was too slow to compare. */
  readonly skewMs?: number;
}

/** Lease of the leader election of a prober. */
export interface ProberLease {
  readonly holder: string;
  /** Age of its last renewal, by the seed's clock, in milliseconds. */
  readonly ageMs: number;
  readonly durationMs: number;
}

/**
 * Warns of probers that are active in several namespaces: a Lease that was not renewed for twice its duration has no living holder. Without the right to
 * list these Leases nothing is reported, because the probers look for each other as well.
 */
export const checkProbers = (leases: SeedRead<ReadonlyMap<string, ProberLease>>): readonly PreflightCheck[] => {
  const active = Array.from(leases.ok ? leases.value : []).filter(
    ([, { holder, ageMs, durationMs }]) => holder !== '' && ageMs < 2 * durationMs,
  );
  if (active.length < 2) return [];
  const names = active.map(([namespace, { holder }]) => `${namespace} (${holder})`).join(', ');
  const detail = `probers are active in several namespaces: ${names}`;
  const count = `${String(active.length)} are active`;
  return [{ subject: 'seed', name: 'probers', detail: count, findings: [{ code: 'several-probers', detail }] }];
};

/** Largest difference of clocks that is ignored. The prober warns about larger ones, too. */
export const warnSkewMs = 5_000;

/** Formats a skew: `12.3s ahead of`, `12.3s behind`. */
export const skewInWords = (ms: number): string =>
  `${(Math.abs(ms) / 1_000).toFixed(1)}s ${ms < 0 ? 'behind' : 'ahead of'}`;

/** Checks that the API server of the seed responds, and that its clock agrees with ours. */
export const checkSeed = (answer: SeedRead<SeedAnswer>): readonly PreflightCheck[] => {
  const reached = whenRead(answer, { subject: 'seed', name: 'API server' }, ({ version, roundTripMs }) => ({
    detail: `${version} responds in ${String(Math.ceil(roundTripMs))} ms`,
    findings: [],
  }));
  if (!answer.ok) return [reached];
  const { skewMs } = answer.value;
  const name = 'clock, compared with this machine';
  if (skewMs === undefined) {
    const detail = 'it responded too slowly to compare clocks';
    return [
      reached,
      { subject: 'seed', name, detail: 'could not be checked', findings: [{ code: 'read-failed', detail }] },
    ];
  }
  const isSkewed = Math.abs(skewMs) > warnSkewMs;
  const detail = `the clock of the seed's API server is ${skewInWords(skewMs)} this machine's`;
  return [
    reached,
    {
      subject: 'seed',
      name,
      detail: isSkewed ? 'differs' : 'agrees within 5s',
      findings: isSkewed ? [{ code: 'seed-clock-skew', detail }] : [],
    },
  ];
};
