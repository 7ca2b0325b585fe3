import { type SimCertificates, createCertificates } from '../../simulator/network/certificates.ts';
import { systemClock } from '../../src/process/clock.ts';

export type TestCertificates = SimCertificates;

/** An authority with a serving certificate for localhost and 127.0.0.1, valid by the machine's clock, which is the one TLS goes by. */
export const createTestCertificates = (): Promise<TestCertificates> => createCertificates({ now: systemClock().now() });
