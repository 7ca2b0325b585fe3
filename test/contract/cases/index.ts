import { createCases } from './create-cases.ts';
import { deleteCases } from './delete-cases.ts';
import { discoveryCases } from './discovery-cases.ts';
import { endpointSliceCases } from './endpoint-slice-cases.ts';
import { listCases, pagingCases, selectorCases } from './list-cases.ts';
import { mergePatchCases } from './patch-cases.ts';
import { podDeleteCases, podStatusCases, podWatchCases } from './pod-cases.ts';
import { protobufCases } from './protobuf-cases.ts';
import { scaleCases, statusCases } from './subresource-cases.ts';
import type { ContractCase } from './target.ts';
import { generationCases, leaseCases, updateCases } from './update-cases.ts';
import { watchCases, watchLifeCases, watchSelectorCases } from './watch-cases.ts';

export type { ContractCase } from './target.ts';

/** What every API server must do, the simulated one and the real one alike. */
export const contractCases: readonly ContractCase[] = [
  ...discoveryCases,
  ...createCases,
  ...updateCases,
  ...generationCases,
  ...leaseCases,
  ...mergePatchCases,
  ...statusCases,
  ...scaleCases,
  ...deleteCases,
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
