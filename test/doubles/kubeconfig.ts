/** Returns a kubeconfig with one context, whose cluster and user have these fields. */
export const kubeconfigOf = (cluster: object, user: object = { token: 't' }): string =>
  JSON.stringify({
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster }],
    users: [{ name: 'x', user }],
  });

/** The fields of a cluster that is served at this address, with a certificate of this authority in PEM. */
export const clusterAt = (server: string, ca: string): object => ({
  server,
  'certificate-authority-data': Buffer.from(ca).toString('base64'),
});
