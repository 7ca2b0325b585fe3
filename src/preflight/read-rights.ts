import { reviewAccess, reviewAccessOf } from '../kubernetes/api/access.ts';
import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { type ProberSettings, neededByProber } from '../prober/index.ts';
import type { NeededRight } from '../process/rights/index.ts';
import { type RightsInput, ownRights } from './checks/rights.ts';
import { type Reader, attempt, optionsOf, send } from './reader.ts';

/** Owner of the rights to check: a ServiceAccount, or the user who runs the command. */
export type RightsOf = NamespacedName | 'self';

const reviews = { verb: 'create', group: 'authorization.k8s.io' } as const;

/** Reviews each right that the settings need. A review is a POST that stores nothing. */
export const readRights = async (
  reader: Reader,
  { settings, of }: { readonly settings: ProberSettings; readonly of: RightsOf },
): Promise<RightsInput> => {
  const isSelf = of === 'self';
  const subject = isSelf ? ownRights : `${of.namespace}/${of.name}`;
  const resource = isSelf ? 'selfsubjectaccessreviews' : 'subjectaccessreviews';
  const rights = await attempt({ ...reviews, resource }, async () => {
    const needed = await neededByProber(settings, { client: reader.client, options: optionsOf(reader) });
    const missing: NeededRight[] = [];
    for (const need of needed) {
      const review = isSelf ? reviewAccess(need.right) : reviewAccessOf(of, need.right);
      if (!(await send(reader, review)).value) missing.push(need);
    }
    return { needed: needed.length, missing };
  });
  return { subject, rights };
};
