import { ApiError } from '../../kubernetes/api/errors.ts';
import type { LeaseList } from './leases.ts';
import type { ProbeMemory, ReadError } from './judgement.ts';

// While the API server of a shoot fails, no kubelet can renew, and afterwards all leases are old. But one that we cannot reach need not have failed.

/** Shortest failure, in milliseconds, that excuses silence: by then KCM has lost its own leader Lease, and starts its timers again afterwards. */
const excuseMs = 15_000;

/**
 * Returns what the error of a run without a list of leases shows: the API server `proved` that it failed, or we were `unconnected`. Undefined: neither (it
 * throttles us or refuses our credential, its answer makes no sense, or no request was sent).
 */
const shows = (error: ReadError): 'proved' | 'unconnected' | undefined => {
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === 'ServerError') return 'proved';
  if (error.code !== 'ConnectionError' && error.code !== 'Timeout') return undefined;
  return isOurFault(error) || error.fault.phase === 'connecting' ? 'unconnected' : 'proved';
};

/** Ends the time in which the API server proved that it failed, at `until`: from there silence counts, if that time was long. */
const endProof = ({ provedSince, ...memory }: ProbeMemory, until: number): ProbeMemory => {
  if (provedSince === undefined || until - provedSince < excuseMs) return memory;
  return { ...memory, excusedUntil: until };
};

/**
 * Enters a run that began at `startedAt` and got no list of leases. One that proves nothing ends what was proved: one late answer before our own network
 * failed for half a minute, or one 500 before two 429, once excused the silence of an outage.
 */
export const rememberFailure = (memory: ProbeMemory, startedAt: number, error: ReadError): ProbeMemory => {
  const shown = shows(error);
  if (shown === 'proved') return { ...memory, provedSince: memory.provedSince ?? startedAt };
  const ended = endProof(memory, startedAt);
  return shown === 'unconnected' ? { ...ended, isUnconnected: true } : ended;
};

/** Enters an answered list: an older failure ends with it. */
export const endFailure = (memory: ProbeMemory, { receivedAt }: Pick<LeaseList, 'receivedAt'>): ProbeMemory => {
  const { isUnconnected = false, ...ended } = endProof(memory, receivedAt);
  const isCutOff = isUnconnected && ended.excusedUntil !== receivedAt;
  return isCutOff ? { ...ended, cutOffUntil: receivedAt } : ended;
};

/** True if the error's code in Node shows a fault on our side. Kubelets connect and verify certificates by themselves, so they may have renewed meanwhile. */
export const isOurFault = ({ fault: { code = '' } }: ApiError): boolean =>
  /^(?:EMFILE|ENFILE|ENOBUFS|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|ELINKLOCAL|EPROXY|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/.test(
    code,
  );
