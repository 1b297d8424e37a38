/** The runtimes of the conformance suite, beside Node. The README names these versions. */
export const runtimeVersions = { workerd: '1.20261117.1', deno: '2.9.6', bun: '1.4.4' };
