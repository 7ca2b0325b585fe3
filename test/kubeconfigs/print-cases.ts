// Prints the cases for tools/kubeconfigs.
import { createCertificates } from '../../simulator/network/certificates.ts';
import { kubeconfigCases } from './kubeconfig-cases.ts';
import { proxyCases } from './proxy-cases.ts';
import { trustCases } from './trust-cases.ts';

const now = Date.now();
const kubeconfigs = await kubeconfigCases(await createCertificates({ now }));
process.stdout.write(JSON.stringify({ kubeconfigs, proxies: proxyCases, trust: await trustCases(now) }));
