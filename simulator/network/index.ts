export { createCertificates } from './certificates.ts';
export { type CountingKube, type RequestCounts, requestKind, withCounting } from './counting.ts';
export { type Fault, type FaultRule, withFaults } from './faults.ts';
export { type HttpsFace, type HttpsStats, type Reachability, serveHttps } from './https.ts';
export { kubeconfigText } from './kubeconfig.ts';
export { OpenRequests } from './open-requests.ts';
