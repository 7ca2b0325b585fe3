import { discoveryCases } from './discovery-cases.ts';
import { endpointSliceCases } from './endpoint-slice-cases.ts';
import type { ContractCase } from './expectations.ts';
import { listCases, pagingCases, selectorCases } from './list-cases.ts';
import { podDeleteCases, podStatusCases, podWatchCases } from './pod-cases.ts';
import { protobufCases } from './protobuf-cases.ts';
import { scaleCases } from './scale-cases.ts';
import { watchCases, watchLifeCases, watchSelectorCases } from './watch-cases.ts';
import { createCases, generationCases, leaseCases, mergePatchCases, statusCases, updateCases } from './write-cases.ts';

/** The rules of the requests that the program sends, which the simulated API server must keep like a real one. A request that nothing sends has no case. */
export const contractCases: readonly ContractCase[] = [
  ...discoveryCases,
  ...createCases,
  ...updateCases,
  ...generationCases,
  ...leaseCases,
  ...mergePatchCases,
  ...statusCases,
  ...scaleCases,
  ...podDeleteCases,
  ...podStatusCases,
  ...podWatchCases,
  ...endpointSliceCases,
  ...listCases,
  ...selectorCases,
  ...pagingCases,
  ...watchCases,
  ...watchSelectorCases,
  ...watchLifeCases,
  ...protobufCases,
];
