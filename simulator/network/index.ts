export { createCertificates } from './certificates.ts';
export { connectionError } from './faults.ts';
export { type CountingKube, type RequestCounts, requestKind, withCounting } from './counting.ts';
export { type RequestFault, type FaultRule, withFaults } from './faults.ts';
export { type SimHttpsServer, serveHttps } from './https.ts';
export { kubeconfigText } from './kubeconfig.ts';
export { OpenRequests } from './open-requests.ts';
