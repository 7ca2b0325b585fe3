/** Ports for metrics and health. They are the Go program's ports, and the defaults of our flags. */
export const metricsPort = 9643;
export const healthPort = 9644;
/** Port of the page, which can be reached only through `kubectl port-forward`. */
export const pagePort = 9645;
