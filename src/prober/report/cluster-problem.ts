import type { Logger } from '../../ports/logger.ts';
import type { EventRecorder } from '../../telemetry/index.ts';
import { namespaceRef } from '../ref-template.ts';

export interface ClusterProblemDeps {
  readonly logger: Logger;
  readonly recordEvent: EventRecorder['record'];
}

/** Reports once per cluster that somebody has to fix a problem, and once that it is fixed. */
export class ClusterProblemReporter {
  readonly #deps: ClusterProblemDeps;
  readonly #known = new Map<string, string>();

  constructor(deps: ClusterProblemDeps) {
    this.#deps = deps;
  }

  found(namespace: string, problem: string | undefined): void {
    const { logger, recordEvent } = this.#deps;
    if (problem === this.#known.get(namespace)) return;
    if (problem === undefined) {
      this.forget(namespace);
      logger.info('it is clear again which Secret is of the cluster', { namespace });
      return;
    }
    this.#known.set(namespace, problem);
    logger.error('it is not clear which Secret is of the cluster', { namespace, problem });
    const regarding = namespaceRef(namespace);
    recordEvent({ regarding, type: 'Warning', reason: 'MeltdownProtectionSecretAmbiguous', message: problem });
  }

  forget(namespace: string): void {
    this.#known.delete(namespace);
  }
}
