import { ApiError, errorText } from '../kubernetes/api/errors.ts';
import { podOfHolder } from '../kubernetes/api/pod-of-holder.ts';
import { createScope } from '../kubernetes/transport/index.ts';
import { type ClusterCommand, type CommandContext, CommandError, onCluster, whenAborted } from '../process/index.ts';
import { transportTo } from './ask-prober.ts';
import { type ProberPlace, readSeedObjects, replicasOf } from './read-objects.ts';

export interface PageRun extends ClusterCommand, ProberPlace {
  /** Port at which its replicas serve their pages. */
  readonly pagePort: number;
  /** Port of this machine. 0: any. */
  readonly localPort: number;
  /** Called when the page can be opened at this address, with whose it is, and who else is there. */
  readonly onOpen: (url: URL, whose: string) => void;
  /** Called with the reason why a later connection failed. */
  readonly onProblem: (problem: string) => void;
}

/** Finds the replica that leads; without one, another ready one. Throws a CommandError with the reason if there is none. */
const findLeader = async (run: PageRun, context: CommandContext) => {
  const { namespace, pagePort: port } = run;
  const objects = await readSeedObjects(run, context);
  const [first, ...others] = replicasOf(objects);
  if (first === undefined) {
    const advice = 'check --context, --kubeconfig, --namespace and --selector';
    const none =
      objects.replicas === undefined ? [] : [`no ready pod of the prober was found in namespace ${namespace}`];
    const [reason = '', ...more] = [...none, ...objects.problems];
    throw new CommandError(reason, [...more, advice]);
  }
  const { pod } = first;
  const standbys = others.length === 0 ? 'no standby' : `standby ${others.map((other) => other.pod).join(', ')}`;
  const isLeader = podOfHolder(objects.lease?.holder ?? '') === pod;
  const whose = isLeader ? `the leader, ${pod} (${standbys})` : `${pod}; which replica leads is not known`;
  return { namespace, pod, port, whose };
};

/** Rejects with the reason if the page does not answer. */
const tryPage = async (
  url: URL,
  pod: string,
  {
    run,
    context,
    problems,
  }: { readonly run: PageRun; readonly context: CommandContext; readonly problems: readonly unknown[] },
): Promise<void> => {
  const page = transportTo(url, context);
  try {
    await page.request({ method: 'GET', path: '/', headers: {}, ...context.options });
  } catch (error) {
    const [first] = problems;
    if (first instanceof ApiError) throw first;
    throw new CommandError(`${pod} does not show its page: ${errorText(first ?? error)}`, [
      `a prober shows it with --page-bind-addr at port ${String(run.pagePort)}, as the chart has it; for another port give --page-port`,
    ]);
  } finally {
    page.close();
  }
};

/** Forwards a port of this machine to the page of the prober that leads, also after it changes, until `stop` aborts. Rejects with a CommandError. */
export const forwardPage = (run: PageRun): Promise<void> =>
  onCluster(run, async (context) => {
    const { stop, localPort, onOpen, onProblem } = run;
    const { pod, whose } = await findLeader(run, context);
    const problems: unknown[] = [];
    let isOpen = false;
    const scope = createScope({ signal: stop, clock: context.clock });
    try {
      const find = (signal: AbortSignal) => findLeader(run, { ...context, options: { ...context.options, signal } });
      const forwarding = context.forward(find, {
        signal: scope.signal,
        port: localPort,
        onProblem: (error) => (isOpen ? onProblem(errorText(error)) : problems.push(error)),
      });
      const url = await forwarding.catch((error: unknown) => {
        throw new CommandError(errorText(error), ['choose another --local-port, or 0 for any that is free']);
      });
      await tryPage(url, pod, { run, context, problems });
      isOpen = true;
      onOpen(url, whose);
      await whenAborted(stop);
    } finally {
      scope.fail(new Error('the page is not shown any more'));
    }
  });
