/** Bundles `webhook-diagnosis` and a module of `webhook-sender`, which are not published. */
export default {
  input: 'src/cli/diagnosis.ts',
  platform: 'node',
  external: /^@deedwire\/webhook-signing/,
  resolve: { conditionNames: ['deedwire-source'] },
  transform: { target: 'node20' },
  output: { file: 'dist/cli/diagnosis.js', format: 'esm', comments: false },
};
