// Prints the cases for tools/kubeconfigs.
import { trustCases } from './trust-cases.ts';

process.stdout.write(JSON.stringify({ trust: await trustCases(Date.now()) }));
