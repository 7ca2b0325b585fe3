import { createCases } from './create-cases.ts';
import { defaultCases } from './default-cases.ts';
import { deleteCases } from './delete-cases.ts';
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

export type { ContractCase } from './target.ts';

/** The rules that every API server must keep, the simulated one and the real one alike. */
export const contractCases: readonly ContractCase[] = [
  ...discoveryCases,
  ...createCases,
  ...defaultCases,
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
