import type { ApiError } from '../../kubernetes/api/errors.ts';

/** Faults of our own side, by Node's code: kubelets, with a way and trust of their own, may well have renewed meanwhile. */
export const isOurFault = ({ fault: { code = '' } }: ApiError): boolean =>
  /^(?:EMFILE|ENFILE|ENOBUFS|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|ELINKLOCAL|EPROXY|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/.test(
    code,
  );
