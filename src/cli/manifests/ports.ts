/** Those of the Go program, and the defaults of ours. */
export const metricsPort = 9643;
export const healthPort = 9644;
/** Of the page, which is reached by `kubectl port-forward` alone. */
export const pagePort = 9645;
