import { componentNames } from '../../config/index.ts';
import { type KubeObject, operatorGrants, operatorHomeGrants } from '../../install/index.ts';
import { leaseNameOf } from '../../process/index.ts';
import { type Installation, clusterWideNameOf, rbacGroup, seedLabelsOf } from './installation.ts';
import { guessResource, policyRules } from './rights.ts';

const leases = componentNames.map(leaseNameOf);

/**
 * Returns the roles of a person who observes and controls the prober, without bindings. Access to pods is a separate Role in the namespace of the
 * installation only: in all namespaces, `pods/proxy` would open every control plane.
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

/** Returns a shell script that binds these roles to a user. */
export const bindScript = (installation: Installation): string => {
  const name = clusterWideNameOf(installation, 'operator');
  return `# Set OPERATOR to the name of the user who operates the dependency-watchdog. For a group, use --group in place of --user.
kubectl create clusterrolebinding "dependency-watchdog:\${OPERATOR:?}" --clusterrole=${name} --user="$OPERATOR"
kubectl create rolebinding "dependency-watchdog:\${OPERATOR:?}" -n ${installation.namespace} --role=${name} --user="$OPERATOR"
`;
};
