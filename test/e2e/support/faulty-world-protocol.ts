/** What a faulty world is told. */
export type WorldOrder = 'trouble' | 'calm';

/** `calm` is answered when all is mended. */
export type WorldAnswer =
  | { readonly order: 'ready'; readonly kubeconfig: string }
  | { readonly order: 'trouble' }
  | { readonly order: 'calm' };
