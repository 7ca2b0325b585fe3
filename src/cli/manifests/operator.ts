import { componentNames } from '../../config/index.ts';
import { type KubeObject, operatorGrants, operatorHomeGrants } from '../../install/index.ts';
import { leaseNameOf } from '../../process/index.ts';
import { type Installation, clusterWideNameOf, rbacGroup, seedLabelsOf } from './installation.ts';
import { guessResource, policyRules } from './rights.ts';

const leases = componentNames.map(leaseNameOf);

/**
 * What a person needs to see and to steer the prober. Nobody is bound to it. What reaches into pods is a Role of its own, for the namespace of the
 * installation alone: in all namespaces, `pods/proxy` would be a way into every control plane.
 */
export const operatorRoles = (installation: Installation): readonly KubeObject[] => {
  const { namespace, prober } = installation;
  const name = clusterWideNameOf(installation, 'operator');
  const labels = seedLabelsOf(installation, 'operator');
  const seedWide = operatorGrants(prober.settings, ({ kind }) => guessResource(kind));
  const apiVersion = `${rbacGroup}/v1`;
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name, labels }, rules: policyRules(seedWide) },
    {
      apiVersion,
      kind: 'Role',
      metadata: { name, namespace, labels },
      rules: policyRules(operatorHomeGrants(leases, namespace)),
    },
  ];
};

/** How somebody gets these roles. */
export const bindScript = (installation: Installation): string => {
  const name = clusterWideNameOf(installation, 'operator');
  return `# Set OPERATOR to the name of the user who is to operate the dependency-watchdog; --group in place of --user for all of a group.
kubectl create clusterrolebinding "dependency-watchdog:\${OPERATOR:?}" --clusterrole=${name} --user="$OPERATOR"
kubectl create rolebinding "dependency-watchdog:\${OPERATOR:?}" -n ${installation.namespace} --role=${name} --user="$OPERATOR"
`;
};
