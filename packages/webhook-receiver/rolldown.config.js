/** Bundles `webhook-diagnosis`, which is not published. */
export default {
  input: 'src/cli/diagnosis.ts',
  platform: 'node',
  external: /^@deedwire\/webhook-(?:events|signing)/,
  resolve: { conditionNames: ['deedwire-source'] },
  transform: { target: 'node20' },
  output: { file: 'dist/cli/diagnosis.js', format: 'esm', comments: false },
};
