import { systemClock } from '../runtime/index.ts';
import { createCertificates, type SimCertificates } from '../sim/index.ts';

export type TestCertificates = SimCertificates;

/** An authority with a serving certificate for localhost and 127.0.0.1, valid by the machine's clock, which is the one TLS goes by. */
export const createTestCertificates = (): Promise<TestCertificates> => createCertificates({ now: systemClock().now() });
