import type { Clock } from '../../src/ports/clock.ts';
import type { TestClient } from '../../test/envtest/client.ts';
import { pollEvery } from '../../test/envtest/waiting.ts';

const observeEveryMs = 500;

/** Names of the nodes whose Ready condition KCM has set to Unknown. */
export const unknownNodes = async (shoot: TestClient): Promise<readonly string[]> => {
  interface Node {
    readonly metadata: { readonly name: string };
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }
  const nodes = await shoot.list<Node>('/api/v1/nodes');
  const isUnknown = ({ status }: Node): boolean =>
    status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'Unknown') === true;
  return nodes.filter(isUnknown).map(({ metadata }) => metadata.name);
};

export interface NodeWatch {
  /** `unknown`: number of nodes that were Unknown at any time; `firstUnknownAt`: milliseconds since the epoch. */
  seen(): { readonly unknown: number; readonly firstUnknownAt?: number };
  /** Stops the observation. Rejects if a list failed. */
  end(): Promise<void>;
}

/** Lists the nodes periodically and records those that are Unknown. */
export const watchNodes = (shoot: TestClient, clock: Clock): NodeWatch => {
  const nodes = new Set<string>();
  let firstAt: number | undefined;
  const watching = pollEvery(observeEveryMs, async () => {
    for (const node of await unknownNodes(shoot)) nodes.add(node);
    if (nodes.size > 0) firstAt ??= clock.now();
  });
  return {
    seen: () => ({ unknown: nodes.size, ...(firstAt === undefined ? {} : { firstUnknownAt: firstAt }) }),
    end: () => watching.stop(),
  };
};
