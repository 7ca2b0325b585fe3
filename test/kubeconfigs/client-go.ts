import { readFileSync } from 'node:fs';

/** Verdict of client-go on a kubeconfig (tools/kubeconfigs/kubeconfig.go). */
export interface KubeconfigVerdict {
  /** Absent if client-go makes a client of it. */
  readonly error?: string;
  readonly server?: string;
  readonly serverName?: string;
  readonly trust?: 'ca' | 'system' | 'insecure';
  /** The header that a request gets; exec if a plugin is asked for it. */
  readonly authorization?: string;
  readonly certificate?: boolean;
  readonly impersonation?: boolean;
  readonly proxy?: string;
}

interface Verdicts {
  readonly versions: Readonly<Record<string, string>>;
  readonly kubeconfigs: Readonly<Record<string, KubeconfigVerdict>>;
  readonly proxies: Readonly<Record<string, { readonly proxy?: string; readonly error?: string }>>;
  readonly trust: Readonly<Record<string, { readonly trusted: boolean; readonly why?: string }>>;
}

/** What client-go and Go make of the cases, printed by tools/kubeconfigs. */
export const clientGo = JSON.parse(
  readFileSync(new URL('fixtures/client-go.json', import.meta.url), 'utf8'),
) as Verdicts;
