import { accessFlags, clusterCommandOf, clusterFlags } from './cluster-command.ts';
import { UsageError } from './errors.ts';
import { bool, namespaceName, shootName, shootNames } from './flag-types.ts';
import { flag, optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';

/** Flags of the commands that control the prober of a seed: pause, resume and release. */
export const steerFlags = (timeout: string) => {
  const { timeout: longest } = clusterFlags(timeout);
  return {
    shoot: optionalFlag(shootName, `Shoot, given as ${shootNames}`),
    all: flag(bool, 'false', 'Select all shoots of the seed'),
    namespace: flag(namespaceName, 'garden', 'Namespace of the prober', 'n'),
    ...accessFlags,
    timeout: longest,
  } as const;
};

interface SteerFlagValues {
  readonly shoot: string | undefined;
  readonly all: boolean;
  readonly namespace: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly timeout: number;
}

/** Advice if a right is missing. */
export const forbidden =
  'it takes the roles of an operator, which the chart has (operator.enabled): ask an administrator of the seed for it';

/** Returns the input of these commands. Throws a UsageError unless exactly one of --shoot and --all is given. */
export const steerCommandOf = (flags: SteerFlagValues, io: CliIo) => {
  const { shoot, all, namespace: home } = flags;
  if ((shoot === undefined) === !all) throw new UsageError('give either --shoot or --all');
  return { ...clusterCommandOf({ ...flags, 'dry-run': false }, io, forbidden), shoot, home };
};
