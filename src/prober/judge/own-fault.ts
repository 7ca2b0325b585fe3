import type { ApiError } from '../../kubernetes/api/errors.ts';

/** True if the error's code in Node shows a fault on our side. Kubelets connect and verify certificates by themselves, so they may have renewed meanwhile. */
export const isOurFault = ({ fault: { code = '' } }: ApiError): boolean =>
  /^(?:EMFILE|ENFILE|ENOBUFS|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|ELINKLOCAL|EPROXY|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/.test(
    code,
  );
