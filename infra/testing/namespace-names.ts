/** Made when the test server starts: a namespace that is registered later takes seconds to be known everywhere. */
export const NAMESPACES = Array.from({ length: 64 }, (_, i) => `test-${String(i + 1)}`);
