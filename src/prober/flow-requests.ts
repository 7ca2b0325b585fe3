import { rejected } from './act.ts';
import type { Dependents } from './dependents.ts';
import type { Flow } from './plan/flow-state.ts';
import type { Action, ActionResponse } from './plan/operation.ts';
import type { ShootProberState } from './plan/shoot-state.ts';
import type { ProberReport } from './report.ts';
import type { GraceDeadline } from './report/scaling.ts';
import { type WithoutLeadDeps, WritesWithoutLead } from './standby.ts';

export interface FlowRequestsDeps extends WithoutLeadDeps {
  readonly report: Pick<ProberReport, 'responseReceived' | 'unexpectedError'>;
}

export interface FlowRequestsOptions {
  readonly cluster: string;
  readonly dependents: Dependents;
  /** Returns when KCM's grace period ends; undefined unless the latest verdict is `unhealthy`. */
  readonly graceDeadline: () => GraceDeadline | undefined;
}

/** Sends the requests of one shoot's flows. Reads, and writes that were not sent yet, end with their flow. */
export class FlowRequests {
  readonly #deps: FlowRequestsDeps;
  readonly #options: FlowRequestsOptions;
  readonly #withoutLead: WritesWithoutLead;
  readonly #unsent = new Map<number, AbortController>();

  constructor(deps: FlowRequestsDeps, options: FlowRequestsOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#withoutLead = new WritesWithoutLead(deps);
  }

  /** Called after each step of the shoot's loop. */
  stepped(state: ShootProberState): void {
    this.#withoutLead.stepped(state);
    if (state.flow?.ending !== undefined) this.#unsent.get(state.flow.id)?.abort(new Error('the flow is ending'));
  }

  flowStarted({ id }: Flow): void {
    this.#unsent.set(id, new AbortController());
  }

  flowEnded({ id }: Flow): void {
    this.#unsent.get(id)?.abort(new Error('the flow has ended'));
    this.#unsent.delete(id);
  }

  abort(reason: Error): void {
    for (const controller of this.#unsent.values()) controller.abort(reason);
  }

  /** Sends the one request of an action. Never rejects: neither an abort nor a bug may leave a flow waiting for ever. */
  async send(flow: Flow, action: Action): Promise<ActionResponse> {
    const { clock, report } = this.#deps;
    const { cluster, dependents, graceDeadline } = this.#options;
    const signal = this.#unsent.get(flow.id)?.signal ?? AbortSignal.abort();
    try {
      const seed = flow.withoutLead && this.#withoutLead.client();
      const outcome = await dependents.send(action, { urgent: flow.direction === 'down', signal, seed });
      const about = { ...dependents.identify(action.key), graceDeadline: graceDeadline() };
      report.responseReceived(cluster, { flow, action, outcome, now: clock.monotonic(), ...about });
      return outcome;
    } catch (error) {
      if (!signal.aborted) report.unexpectedError(cluster, error);
      return { key: action.key, result: rejected(error) };
    }
  }
}
