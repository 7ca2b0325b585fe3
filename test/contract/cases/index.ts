import { createCases } from './create-cases.ts';
import { discoveryCases } from './discovery-cases.ts';
import { endpointSliceCases } from './endpoint-slice-cases.ts';
import { generationCases } from './generation-cases.ts';
import { listCases, pagingCases } from './list-cases.ts';
import { mergePatchCases } from './patch-cases.ts';
import { podDeleteCases, podStatusCases, podWatchCases } from './pod-cases.ts';
import { protobufCases } from './protobuf-cases.ts';
import { scaleCases } from './scale-cases.ts';
import { selectorCases } from './selector-cases.ts';
import { statusCases } from './status-cases.ts';
import type { ContractCase } from './target.ts';
import { leaseCases, updateCases } from './update-cases.ts';
import { watchCases, watchSelectorCases } from './watch-cases.ts';
import { watchLifeCases } from './watch-life-cases.ts';

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
