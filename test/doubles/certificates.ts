import { type SimCertificates, createCertificates } from '../../simulator/network/certificates.ts';
import { systemClock } from '../../src/process/clock.ts';

export type TestCertificates = SimCertificates;

/** Creates an authority with a serving certificate for localhost and 127.0.0.1. It is valid by the machine's clock, because TLS uses that clock. */
export const createTestCertificates = (): Promise<TestCertificates> => createCertificates({ now: systemClock().now() });
